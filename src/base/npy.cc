// SPDX-License-Identifier: MIT
#include "base/npy.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/reading.h"
#include "base/text.h"

namespace paceline {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr std::size_t kLongestHeader = 1 << 20;

struct Descr {
  std::string_view code;  // NumPy's type string with byte order
  DType dtype;
};
constexpr std::array<Descr, 13> kDescrs{{{"<f4", DType::kFloat32},
                                         {"<f2", DType::kFloat16},
                                         {"<f8", DType::kFloat64},
                                         {"|i1", DType::kInt8},
                                         {"|u1", DType::kUInt8},
                                         {"<i4", DType::kInt32},
                                         {"<i8", DType::kInt64},
                                         {"|b1", DType::kBool},
                                         {"<V2", DType::kBFloat16},
                                         {"<i2", DType::kInt16},
                                         {"<u2", DType::kUInt16},
                                         {"<u4", DType::kUInt32},
                                         {"<u8", DType::kUInt64}}};

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
  bad(name, fmt::format("element type {} is not supported (float16/32/64, int8/16/32/64, uint8/16/32/64, "
                        "bool, little-endian)",
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

struct Header {
  TensorSpec spec;
  std::size_t data_begin = 0;
  [[nodiscard]] std::size_t data_bytes() const {
    return static_cast<std::size_t>(element_count(spec.shape)) * dtype_size_bytes(spec.dtype);
  }
};

std::size_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
}

// Where the data begin, according to the first twelve bytes.
std::size_t header_end(std::string_view start, const std::string& name) {
  if (start.size() < 12 || start.substr(0, 6) != kMagic)
    bad(name, "it does not start with NumPy's magic bytes");
  const std::size_t low = byte_at(start, 8) | byte_at(start, 9) << 8;
  return byte_at(start, 6) == 1 ? 10 + low : 12 + (low | byte_at(start, 10) << 16 | byte_at(start, 11) << 24);
}

Header parse_header(std::string_view bytes, const std::string& name) {
  const std::size_t end = header_end(bytes, name);
  if (bytes.size() < end) bad(name, "it is cut off inside its header");
  const std::size_t begin = byte_at(bytes, 6) == 1 ? 10 : 12;
  const std::string_view header = bytes.substr(begin, end - begin);
  if (header_value(header, "fortran_order", name).starts_with("True"))
    bad(name, "it is in Fortran order; save a C-ordered copy");
  return {{fs::path(name).stem().string(), parse_descr(header_value(header, "descr", name), name),
           parse_shape(header_value(header, "shape", name), name)},
          end};
}

void check_size(const Header& header, std::size_t have, const std::string& name) {
  if (have != header.data_bytes())
    bad(name, fmt::format("it contains {} bytes of data, its shape needs {}", have, header.data_bytes()));
}

Tensor parse_npy(std::string_view bytes, const std::string& name) {
  Header header = parse_header(bytes, name);
  check_size(header, bytes.size() - header.data_begin, name);
  Tensor tensor(std::move(header.spec));
  std::memcpy(tensor.data(), bytes.data() + header.data_begin, tensor.size_bytes());
  return tensor;
}

// Opening a pipe would wait for a writer.
std::string regular_file(const fs::path& path) {
  check_regular_file(path);
  return path.string();
}

// A .npy file of which only the requested parts are read.
class NpyFile {
 public:
  explicit NpyFile(const fs::path& path) : name_(regular_file(path)), stream_(path, std::ios::binary) {
    if (!stream_)
      throw Error(ErrorCode::kIo, fmt::format("cannot read '{}': {}", name_, std::strerror(errno)));
    const std::string start = read(0, 12);
    header_ = parse_header(read(0, header_end(start, name_)), name_);
    stream_.clear();
    stream_.seekg(0, std::ios::end);
    const auto size = static_cast<std::size_t>(stream_.tellg());
    check_size(header_, size - std::min(size, header_.data_begin), name_);
  }
  [[nodiscard]] const TensorSpec& spec() const { return header_.spec; }
  Tensor samples(std::int64_t first, std::int64_t count) {
    const Shape& shape = header_.spec.shape;
    if (shape.empty() || first < 0 || count < 0 || shape[0] < first + count)
      bad(name_,
          fmt::format("it contains {} samples, {} are needed", shape.empty() ? 0 : shape[0], first + count));
    TensorSpec part = header_.spec;
    part.shape[0] = count;
    Tensor tensor(std::move(part));
    const std::size_t sample_bytes =
        shape[0] > 0 ? header_.data_bytes() / static_cast<std::size_t>(shape[0]) : 0;
    read_into(reinterpret_cast<char*>(tensor.data()),
              header_.data_begin + static_cast<std::size_t>(first) * sample_bytes, tensor.size_bytes());
    return tensor;
  }

 private:
  std::string read(std::size_t at, std::size_t size) {
    std::string bytes(std::min(size, kLongestHeader), '\0');
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(at));
    stream_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream_.gcount()));
    return bytes;
  }
  void read_into(char* target, std::size_t at, std::size_t size) {
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(at));
    if (!stream_.read(target, static_cast<std::streamsize>(size))) bad(name_, "it ends early");
  }
  std::string name_;
  std::ifstream stream_;
  Header header_;
};

zip_uint64_t most_member_bytes() {
  return limit_of(Foreign::kArrays).bytes;
}

using Archive = std::unique_ptr<zip_t, void (*)(zip_t*)>;

Archive open_archive(const fs::path& path) {
  check_regular_file(path);
  int error = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &error), zip_discard);
  if (!archive)
    throw Error(ErrorCode::kData, fmt::format("'{}' is not a readable .npz archive", path.string()));
  return archive;
}

// The beginning of a member, enough for its header.
std::string read_beginning(zip_t* archive, zip_uint64_t index) {
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(archive, index, 0), zip_fclose);
  std::string content(kLongestHeader, '\0');
  const auto size = file ? zip_fread(file.get(), content.data(), content.size()) : 0;
  content.resize(static_cast<std::size_t>(std::max<zip_int64_t>(0, size)));
  return content;
}

// Deflate makes nothing smaller than a 1032nd; NumPy stores or deflates.
constexpr zip_uint64_t kDeflateLimit = 1032, kDeflateFrame = 1024;

bool can_unpack_to(const zip_stat_t& stat) {
  if (stat.comp_method == ZIP_CM_STORE) return stat.size == stat.comp_size;
  return stat.comp_method == ZIP_CM_DEFLATE && stat.comp_size <= most_member_bytes() &&
         stat.size <= stat.comp_size * kDeflateLimit + kDeflateFrame;
}

// Memory is taken only after the header, and what the directory says, agree about the size.
Tensor read_member(zip_t* archive, zip_uint64_t index, const std::string& name) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || stat.size > most_member_bytes() ||
      !can_unpack_to(stat))
    bad(name, "its directory is damaged");
  Header header = parse_header(read_beginning(archive, index), name);
  check_size(header, stat.size - std::min<std::size_t>(stat.size, header.data_begin), name);
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(archive, index, 0), zip_fclose);
  const auto read = [&](void* target, std::size_t size) {
    return file && zip_fread(file.get(), target, size) == static_cast<zip_int64_t>(size);
  };
  std::string head(header.data_begin, '\0');
  char after = 0;  // reading to the end makes libzip check the checksum
  Tensor tensor(std::move(header.spec));
  if (!read(head.data(), head.size()) || !read(tensor.data(), tensor.size_bytes()) ||
      zip_fread(file.get(), &after, 1) != 0)
    bad(name, "a member cannot be unpacked");
  return tensor;
}

}  // namespace

Tensor read_npy(const fs::path& path) {
  return parse_npy(read_file(path), path.string());
}

Tensor read_npy_samples(const fs::path& path, std::int64_t first, std::int64_t count) {
  return NpyFile(path).samples(first, count);
}

TensorSpec read_npy_spec(const fs::path& path) {
  return NpyFile(path).spec();
}

namespace {

std::string npy_bytes(const TensorView& tensor) {
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
  return bytes;
}

void add_member(zip_t* archive, const std::string& name, const std::string& bytes) {
  zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  const zip_int64_t index = source ? zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
  if (source && index < 0) zip_source_free(source);
  if (index < 0 || zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", name, zip_strerror(archive)));
}

}  // namespace

void write_npy(const fs::path& path, const TensorView& tensor) {
  replace_file(path, npy_bytes(tensor));
}

void write_npz(const fs::path& path, std::span<const TensorView> tensors) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path.string(), why));
  };
  std::vector<std::string> members;         // must live until the archive is closed, when libzip reads them
  const auto part = unfinished_file(path);  // libzip would first read what stands under the name
  Archive archive(zip_open(part.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr), zip_discard);
  if (!archive) refuse(std::strerror(errno));
  members.reserve(tensors.size());
  for (const auto& tensor : tensors)
    add_member(archive.get(), tensor.name + ".npy", members.emplace_back(npy_bytes(tensor)));
  if (zip_close(archive.get()) != 0) refuse(zip_strerror(archive.get()));
  static_cast<void>(archive.release());
  if (::rename(part.c_str(), path.c_str()) != 0) refuse(std::strerror(errno));
}

std::uint64_t npy_or_npz_bytes(const fs::path& path) {
  if (path.extension() != ".npz") {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? 0 : size;  // the reader reports why it cannot be read
  }
  const auto archive = open_archive(path);
  std::uint64_t bytes = 0;
  const auto count =
      static_cast<zip_uint64_t>(std::max<zip_int64_t>(0, zip_get_num_entries(archive.get(), 0)));
  for (zip_uint64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), i, 0, &stat) == 0) bytes += std::min(stat.size, most_member_bytes());
  }
  return bytes;
}

std::vector<TensorSpec> read_npy_or_npz_specs(const fs::path& path) {
  if (path.extension() != ".npz") return {read_npy_spec(path)};
  std::vector<TensorSpec> specs;
  const auto archive = open_archive(path);
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const std::string member = zip_get_name(archive.get(), index, 0);
    specs.push_back(parse_header(read_beginning(archive.get(), index), (path / member).string()).spec);
  }
  return specs;
}

std::pair<std::string, std::string> name_and_file(const std::string& text) {
  if (fs::exists(text)) return {"", text};
  for (auto colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1))
    if (fs::exists(text.substr(colon + 1))) return {text.substr(0, colon), text.substr(colon + 1)};
  const auto colon = text.rfind(':');
  return colon == std::string::npos ? std::pair{std::string(), text}
                                    : std::pair{text.substr(0, colon), text.substr(colon + 1)};
}

std::vector<Tensor> read_npy_or_npz(const fs::path& path) {
  std::vector<Tensor> tensors;
  if (path.extension() != ".npz") {
    tensors.push_back(read_npy(path));
    return tensors;
  }
  const auto archive = open_archive(path);
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const std::string member = zip_get_name(archive.get(), index, 0);
    tensors.push_back(read_member(archive.get(), index, (path / member).string()));
  }
  return tensors;
}

}  // namespace paceline
