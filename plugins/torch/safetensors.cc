// SPDX-License-Identifier: MIT
#include "torch/safetensors.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/json.h"

namespace paceline::torch_plugin {
namespace {

constexpr std::size_t kLengthBytes = 8;

struct StoredType {
  std::string_view name;
  DType dtype;
};
constexpr StoredType kStoredTypes[] = {
    {"F32", DType::kFloat32}, {"F16", DType::kFloat16}, {"BF16", DType::kBFloat16}, {"F64", DType::kFloat64},
    {"I64", DType::kInt64},   {"I32", DType::kInt32},   {"I8", DType::kInt8},       {"U8", DType::kUInt8},
    {"BOOL", DType::kBool},   {"I16", DType::kInt16},   {"U16", DType::kUInt16},    {"U32", DType::kUInt32},
    {"U64", DType::kUInt64},
};

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::kData,
              fmt::format("'{}' is not a usable safetensors file: {}", path.string(), what));
}

DType stored_dtype(const std::string& name) {
  for (const auto& row : kStoredTypes)
    if (row.name == name) return row.dtype;
  throw std::invalid_argument(fmt::format("type {} is not supported", name));
}

// Throws std::exception for malformed entries; the caller adds the tensor's name.
StoredTensor parse_entry(const nlohmann::json& entry, std::span<const std::byte> data) {
  StoredTensor tensor{stored_dtype(entry.at("dtype")), entry.at("shape").get<Shape>(), {}};
  std::size_t expected_bytes = dtype_size_bytes(tensor.dtype);
  for (const auto extent : tensor.shape)
    if (extent < 0 ||
        __builtin_mul_overflow(expected_bytes, static_cast<std::size_t>(extent), &expected_bytes))
      throw std::invalid_argument("its shape is impossible");
  const auto begin = entry.at("data_offsets").at(0).get<std::uint64_t>();
  const auto end = entry.at("data_offsets").at(1).get<std::uint64_t>();
  if (begin > end || end - begin != expected_bytes)
    throw std::invalid_argument(
        fmt::format("it claims bytes {} to {}, its shape needs {}", begin, end, expected_bytes));
  if (end > data.size())
    throw std::invalid_argument(fmt::format(
        "it ends at data byte {}, the file contains {}; it is truncated, fetch it again", end, data.size()));
  tensor.bytes = data.subspan(begin, end - begin);
  return tensor;
}

}  // namespace

std::string_view stored_type_name(DType dtype) {
  for (const auto& row : kStoredTypes)
    if (row.dtype == dtype) return row.name;
  throw Error(ErrorCode::kUnsupported, fmt::format("safetensors has no type {}", dtype_name(dtype)));
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path), mapping_(path) {
  read_header();
}

void SafetensorsFile::read_header() {
  const auto bytes = mapping_.bytes();
  if (bytes.size() < kLengthBytes)
    fail(path_, fmt::format("it contains {} bytes, a header alone needs more", bytes.size()));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > limit_of(Foreign::kTensors).bytes)  // the format's own limit
    fail(path_, fmt::format("it does not start with a header length (found {})", length));
  if (length > bytes.size() - kLengthBytes)
    fail(path_, fmt::format("its header of {} bytes does not fit in the file's {}; it is truncated", length,
                            bytes.size()));
  const auto text = bytes.substr(kLengthBytes, length);
  const auto header = json_or_discarded(text);
  if (!header.is_object()) fail(path_, "its header is not a JSON object");
  const auto data = std::as_bytes(std::span(bytes.substr(kLengthBytes + length)));
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    try {
      tensors_[name] = parse_entry(entry, data);
    } catch (const std::exception& e) {
      fail(path_, fmt::format("tensor {}: {}", name, plain_reason(e)));
    }
  }
}

}  // namespace paceline::torch_plugin
