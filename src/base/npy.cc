// SPDX-License-Identifier: MIT
#include "base/npy.h"

#include <fmt/format.h>
#include <zip.h>

#include <array>
#include <cctype>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace paceline {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};

struct Descr {
  std::string_view code;  // NumPy's type string, byte order included
  DType dtype;
};
constexpr std::array<Descr, 9> kDescrs{{{"<f4", DType::kFloat32},
                                        {"<f2", DType::kFloat16},
                                        {"<f8", DType::kFloat64},
                                        {"|i1", DType::kInt8},
                                        {"|u1", DType::kUInt8},
                                        {"<i4", DType::kInt32},
                                        {"<i8", DType::kInt64},
                                        {"|b1", DType::kBool},
                                        {"<V2", DType::kBFloat16}}};

[[noreturn]] void bad(const std::string& name, const std::string& why) {
  throw Error(ErrorCode::kData, fmt::format("'{}' is not a readable .npy array: {}", name, why));
}

std::string_view header_value(std::string_view header, std::string_view key, const std::string& name) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) bad(name, fmt::format("its header lacks '{}'", key));
  const std::size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) bad(name, "its header is malformed");
  return trim(header.substr(colon + 1));
}

DType parse_descr(std::string_view value, const std::string& name) {
  for (const auto& row : kDescrs)
    if (value.size() > row.code.size() + 1 && value.substr(1, row.code.size()) == row.code) return row.dtype;
  bad(name,
      fmt::format("element type {} is not supported (float16/32/64, int8/32/64, uint8, bool, little-endian)",
                  value.substr(0, value.find(','))));
}

Shape parse_shape(std::string_view value, const std::string& name) {
  const std::size_t end = value.find(')');
  if (value.empty() || value[0] != '(' || end == std::string_view::npos) bad(name, "its shape is malformed");
  Shape shape;
  double elements = 1;
  for (const auto& part : split(value.substr(1, end - 1), ',')) {
    if (trim(part).empty()) continue;
    const auto size = parse_int(trim(part));
    if (!size || *size < 0) bad(name, "its shape is malformed");
    elements *= static_cast<double>(*size);
    shape.push_back(*size);
  }
  if (elements > 1e12) bad(name, "its shape is implausibly large");
  return shape;
}

Tensor parse_npy(std::string_view bytes, const std::string& name) {
  if (bytes.size() < 12 || bytes.substr(0, 6) != kMagic)
    bad(name, "it does not start with NumPy's magic bytes");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const bool v1 = byte(6) == 1;
  const std::size_t begin = v1 ? 10 : 12;
  const std::size_t length =
      v1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (bytes.size() < begin + length) bad(name, "it is cut off inside its header");
  const std::string_view header = bytes.substr(begin, length);
  if (header_value(header, "fortran_order", name).starts_with("True"))
    bad(name, "it is in Fortran order; save a C-ordered copy");
  TensorSpec spec{fs::path(name).stem().string(), parse_descr(header_value(header, "descr", name), name),
                  parse_shape(header_value(header, "shape", name), name)};
  const std::string_view data = bytes.substr(begin + length);
  const auto want = static_cast<std::size_t>(element_count(spec.shape)) * dtype_size_bytes(spec.dtype);
  if (data.size() != want)
    bad(name, fmt::format("it holds {} bytes of data, its shape needs {}", data.size(), want));
  Tensor tensor(std::move(spec));
  std::memcpy(tensor.data(), data.data(), want);
  return tensor;
}

std::string read_member(zip_t* archive, zip_uint64_t index, const std::string& name) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || stat.size > (1ULL << 40))
    bad(name, "its directory is damaged");
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(archive, index, 0), zip_fclose);
  std::string content(stat.size, '\0');
  if (!file || zip_fread(file.get(), content.data(), stat.size) != static_cast<zip_int64_t>(stat.size))
    bad(name, "a member cannot be unpacked");
  return content;
}

}  // namespace

Tensor read_npy(const fs::path& path) {
  return parse_npy(read_file(path), path.string());
}

void write_npy(const fs::path& path, const TensorView& tensor) {
  std::string shape;
  for (auto size : tensor.shape) shape += fmt::format("{},", size);
  std::string_view code;
  for (const auto& row : kDescrs)
    if (row.dtype == tensor.dtype) code = row.code;
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(static_cast<const char*>(tensor.data), tensor.size_bytes());
  write_file_atomic(path, bytes);
}

std::vector<Tensor> read_npy_or_npz(const fs::path& path) {
  std::vector<Tensor> tensors;
  if (path.extension() != ".npz") {
    tensors.push_back(read_npy(path));
    return tensors;
  }
  int error = 0;
  std::unique_ptr<zip_t, void (*)(zip_t*)> archive(zip_open(path.c_str(), ZIP_RDONLY, &error), zip_discard);
  if (!archive)
    throw Error(ErrorCode::kData, fmt::format("'{}' is not a readable .npz archive", path.string()));
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const std::string member = zip_get_name(archive.get(), index, 0);
    tensors.push_back(parse_npy(read_member(archive.get(), index, path.string()), member));
  }
  return tensors;
}

}  // namespace paceline
