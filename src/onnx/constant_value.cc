// SPDX-License-Identifier: MIT
#include "onnx/constant_value.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 31;  // of a message

template <typename T, typename Stored>
std::string bytes_as(const Stored& stored) {
  std::vector<T> values;
  for (const auto value : stored) values.push_back(static_cast<T>(value));
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Narrow integers and 16-bit floats are written as int32 where they are not raw bytes.
std::string narrow_bytes(const proto::TensorProto& tensor, std::size_t size) {
  if (size == 1) return bytes_as<std::uint8_t>(tensor.int32_data());
  if (size == 2) return bytes_as<std::uint16_t>(tensor.int32_data());
  return bytes_as<std::int32_t>(tensor.int32_data());
}

std::string bytes_of(const proto::TensorProto& tensor, DType dtype) {
  if (tensor.has_raw_data()) return tensor.raw_data();
  switch (dtype) {
    case DType::kFloat32:
      return bytes_as<float>(tensor.float_data());
    case DType::kFloat64:
      return bytes_as<double>(tensor.double_data());
    case DType::kInt64:
      return bytes_as<std::int64_t>(tensor.int64_data());
    case DType::kUInt64:
      return bytes_as<std::uint64_t>(tensor.uint64_data());
    case DType::kUInt32:
      return bytes_as<std::uint32_t>(tensor.uint64_data());
    default:
      return narrow_bytes(tensor, dtype_size_bytes(dtype));
  }
}

// The place of the n-th value, whose indices are one number or one per dimension.
std::int64_t place_of(const std::vector<std::int64_t>& indices, std::size_t n, std::size_t values,
                      const Shape& shape) {
  if (indices.size() == values) return indices[n];
  std::int64_t place = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto index = indices[n * shape.size() + d];
    if (index < 0 || index >= shape[d]) return -1;
    place = place * shape[d] + index;
  }
  return place;
}

[[noreturn]] void no_place(const proto::SparseTensorProto& sparse) {
  throw Error(ErrorCode::kData,
              fmt::format("sparse tensor '{}' has values outside its shape; the file is damaged, export it "
                          "again",
                          sparse.values().name()));
}

template <typename Values>
Shape length_of(const Values& values) {
  return {static_cast<std::int64_t>(values.size())};
}

}  // namespace

std::optional<proto::TensorProto> dense_of(const proto::SparseTensorProto& sparse) {
  const auto dtype = dtype_of(sparse.values().data_type());
  if (!dtype) return std::nullopt;
  const auto size = static_cast<std::int64_t>(dtype_size_bytes(*dtype));
  const Shape shape(sparse.dims().begin(), sparse.dims().end());
  std::int64_t elements = 1;
  for (const auto extent : shape)
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements)) no_place(sparse);
  if (elements > kMostBytes / size) return std::nullopt;
  const auto values = bytes_of(sparse.values(), *dtype);
  const auto indices = ints_of(sparse.indices());
  const auto count = values.size() / static_cast<std::size_t>(size);
  if (indices.size() != count && indices.size() != count * shape.size()) no_place(sparse);
  std::string dense(static_cast<std::size_t>(elements * size), '\0');
  for (std::size_t n = 0; n < count; ++n) {
    const auto place = place_of(indices, n, count, shape);
    if (place < 0 || place >= elements) no_place(sparse);
    std::memcpy(dense.data() + place * size, values.data() + n * static_cast<std::size_t>(size),
                static_cast<std::size_t>(size));
  }
  return make_tensor(sparse.values().name(), *dtype, shape, dense.data());
}

std::optional<proto::TensorProto> constant_value(const proto::NodeProto& node) {
  if (node.op_type() != "Constant" || !is_standard(node) || node.attribute_size() != 1) return std::nullopt;
  const auto& attribute = node.attribute(0);
  const std::string_view form = attribute.name();
  const float number = attribute.f();
  const std::int64_t whole = attribute.i();
  const std::vector<float> numbers(attribute.floats().begin(), attribute.floats().end());
  const std::vector<std::int64_t> wholes(attribute.ints().begin(), attribute.ints().end());
  if (form == "value") return attribute.t();
  if (form == "value_float") return make_tensor("", Shape{}, std::span<const float>(&number, 1));
  if (form == "value_floats") return make_tensor("", length_of(numbers), numbers);
  if (form == "value_int") return make_tensor("", Shape{}, std::span<const std::int64_t>(&whole, 1));
  if (form == "value_ints") return make_tensor("", length_of(wholes), wholes);
  return form == "sparse_value" ? dense_of(attribute.sparse_tensor()) : std::nullopt;
}

}  // namespace paceline::onnx
