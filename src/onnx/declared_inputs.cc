// SPDX-License-Identifier: MIT
#include "onnx/declared_inputs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

// Field numbers of onnx.proto: ModelProto.graph, GraphProto.initializer, .input and .output,
// TensorProto.name, ValueInfoProto.name and .type, TypeProto.tensor_type, TypeProto.Tensor.elem_type and
// .shape, TensorShapeProto.dim, Dimension.dim_value and .dim_param.
constexpr std::uint64_t kGraph = 7, kInitializer = 5, kInput = 11, kOutput = 12, kTensorName = 8, kName = 1,
                        kType = 2, kTensorType = 1, kElemType = 1, kShape = 2, kDim = 1, kDimValue = 1,
                        kDimParam = 2;

// A mapped file, of which only the pages that are accessed are read. Empty when it cannot be mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && status.st_size > 0)
      size_ = static_cast<std::size_t>(status.st_size);
    if (size_ > 0) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    ::close(descriptor);
  }
  ~MappedFile() {
    if (!bytes().empty()) ::munmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] std::string_view bytes() const {
    return size_ == 0 || data_ == MAP_FAILED ? std::string_view()
                                             : std::string_view(static_cast<const char*>(data_), size_);
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

struct Field {
  std::string_view bytes;    // of a message or text
  std::uint64_t number = 0;  // of a varint
};

// Iterates over the fields of a message in protocol buffers' wire format: a key (field number and kind), then
// a varint, 8 or 4 bytes, or a length and that many bytes. Ends at anything else.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}
  // The next field with this number; nothing at the end.
  std::optional<Field> next(std::uint64_t number) {
    while (const auto key = varint())
      if (const auto content = field(*key & 7); !content)
        return std::nullopt;
      else if (*key >> 3 == number)
        return content;
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
  std::string_view rest_;
};

std::optional<Field> first(std::string_view message, std::uint64_t number) {
  return Message(message).next(number);
}
std::string_view first_bytes(std::string_view message, std::uint64_t number) {
  return first(message, number).value_or(Field{}).bytes;
}

void append_dimension(DeclaredInput& input, std::string_view dimension) {
  const auto size = first(dimension, kDimValue);
  const auto extent = size ? static_cast<std::int64_t>(size->number) : -1;
  input.shape->push_back(extent < 1 ? -1 : extent);
  input.symbols.emplace_back(extent < 1 ? first_bytes(dimension, kDimParam) : "");
}

// Reads an input or an output, which are declared alike.
DeclaredInput input_of(std::string_view value_info) {
  DeclaredInput input{std::string(first_bytes(value_info, kName)), {}, {}, {}};
  const auto tensor = first_bytes(first_bytes(value_info, kType), kTensorType);
  input.dtype = dtype_of(static_cast<std::int32_t>(first(tensor, kElemType).value_or(Field{}).number));
  const auto shape = first(tensor, kShape);
  if (!shape) return input;
  input.shape.emplace();
  Message dimensions(shape->bytes);
  while (const auto dimension = dimensions.next(kDim)) append_dimension(input, dimension->bytes);
  return input;
}

}  // namespace

std::vector<DeclaredInput> read_declared_inputs(const std::string& file) {
  const MappedFile mapped(file);
  const auto graph = first_bytes(mapped.bytes(), kGraph);
  std::set<std::string, std::less<>> initializers;
  Message tensors(graph), values(graph);
  while (const auto tensor = tensors.next(kInitializer))
    initializers.emplace(first_bytes(tensor->bytes, kTensorName));
  std::vector<DeclaredInput> inputs;
  while (const auto value = values.next(kInput))
    if (!initializers.contains(first_bytes(value->bytes, kName))) inputs.push_back(input_of(value->bytes));
  return inputs;
}

std::optional<Shape> read_first_output_shape(const std::string& file) {
  const MappedFile mapped(file);
  return input_of(first_bytes(first_bytes(mapped.bytes(), kGraph), kOutput)).shape;
}

}  // namespace paceline::onnx
