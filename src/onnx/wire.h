// SPDX-License-Identifier: MIT
// Looks at ONNX files in protocol buffers' wire format, without reading the weights in them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"

namespace paceline::onnx {

// One message of protocol buffers ends here; files of models with more weights have them in a second file.
inline constexpr std::uint64_t kMaxMessageBytes = 0x7FFFFFFF;

// Returns the path. Throws Error(kIo) unless it is a regular file, Error(kData) for one that is empty, larger
// than a message can be, or a pointer of Git LFS.
const std::filesystem::path& checked_model_file(const std::filesystem::path& file);

// A file that may be one message, mapped: only the pages that are looked at are read. Throws likewise, and
// Error(kData) for a model that ends too early.
class ModelBytes {
 public:
  explicit ModelBytes(const std::filesystem::path& file);
  [[nodiscard]] std::string_view bytes() const { return mapped_.bytes(); }

 private:
  MappedFile mapped_;
};

namespace wire {

// Field numbers of onnx.proto: ModelProto.graph and .functions, FunctionProto.node, GraphProto.node,
// .initializer, .input, .output and .value_info, NodeProto.input, .output, .op_type, .domain and .attribute,
// AttributeProto.name, .i, .t, .g, .tensors and .graphs, TensorProto.dims, .data_type, .float_data,
// .int32_data, .int64_data, .name, .raw_data and .external_data, StringStringEntryProto.key and .value,
// ValueInfoProto.name and .type, TypeProto.tensor_type, TypeProto.Tensor.elem_type and .shape,
// TensorShapeProto.dim, Dimension.dim_value and .dim_param.
inline constexpr std::uint64_t kGraph = 7, kFunctions = 25, kFunctionNode = 7, kNode = 1, kInitializer = 5,
                               kInput = 11, kOutput = 12, kAttribute = 5, kOneTensor = 5, kOneGraph = 6,
                               kTensors = 10, kGraphs = 11, kTensorName = 8, kExternalData = 13, kKey = 1,
                               kValue = 2, kName = 1, kType = 2, kTensorType = 1, kElemType = 1, kShape = 2,
                               kDim = 1, kDimValue = 1, kDimParam = 2, kValueInfo = 13, kNodeInput = 1,
                               kNodeOutput = 2, kOpType = 4, kAttributeName = 1, kInt = 3, kDims = 1,
                               kInt32Data = 5, kInt64Data = 7, kRawData = 9, kDataType = 2, kFloatData = 4,
                               kDomain = 7;

struct Field {
  std::string_view bytes;    // of a message or text
  std::uint64_t number = 0;  // of a varint
};

// Iterates over the fields of a message in protocol buffers' wire format: a key (field number and kind), then
// a varint, 8 or 4 bytes, or a length and that many bytes. Ends at anything else, and at field number 0,
// which zeros of a hole in a file would be.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}
  // The next field with this number; nothing at the end.
  std::optional<Field> next(std::uint64_t number) {
    while (const auto key = varint())
      if (const auto content = *key >> 3 == 0 ? std::nullopt : field(*key & 7); !content)
        return std::nullopt;
      else if (*key >> 3 == number)
        return content;
    return std::nullopt;
  }
  [[nodiscard]] std::size_t size() const { return rest_.size(); }
  // False, without an effect: there are fewer bytes.
  bool skip(std::uint64_t size) { return take(size).has_value(); }
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

 private:
  std::optional<Field> field(std::uint64_t kind) {
    constexpr std::uint64_t kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5;
    if (kind == kVarint) {
      const auto number = varint();
      return number ? std::optional(Field{{}, *number}) : std::nullopt;
    }
    if (kind == kEightBytes) return take(8);
    if (kind == kFourBytes) return take(4);
    const auto length = kind == kBytes ? varint() : std::nullopt;
    return length ? take(*length) : std::nullopt;
  }
  std::optional<Field> take(std::uint64_t size) {
    if (size > rest_.size()) return std::nullopt;
    const auto taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return Field{taken, 0};
  }
  std::string_view rest_;
};

inline std::optional<Field> first(std::string_view message, std::uint64_t number) {
  return Message(message).next(number);
}
// The integers of a repeated field, which may be packed.
inline std::vector<std::int64_t> integers(std::string_view message, std::uint64_t number) {
  std::vector<std::int64_t> values;
  Message fields(message);
  while (const auto field = fields.next(number)) {
    if (field->bytes.empty()) values.push_back(static_cast<std::int64_t>(field->number));
    Message packed(field->bytes);
    while (const auto value = packed.varint()) values.push_back(static_cast<std::int64_t>(*value));
  }
  return values;
}
inline std::string_view first_bytes(std::string_view message, std::uint64_t number) {
  return first(message, number).value_or(Field{}).bytes;
}

}  // namespace wire
}  // namespace paceline::onnx
