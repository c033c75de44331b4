// SPDX-License-Identifier: MIT
#include "onnxruntime/dimension_symbols.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace paceline::ort_plugin {
namespace {

// Field numbers of onnx.proto: ModelProto.graph, GraphProto.input, ValueInfoProto.name and .type,
// TypeProto.tensor_type, TypeProto.Tensor.shape, TensorShapeProto.dim, Dimension.dim_param.
constexpr std::uint64_t kGraph = 7, kInput = 11, kName = 1, kType = 2, kTensorType = 1, kShape = 2, kDim = 1,
                        kDimParam = 2;

// A file as bytes; only the pages that are looked at are read. Empty when it cannot be.
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

// Walks the fields of a message in protocol buffers' wire format: a key (field number and kind), then a
// varint, 8 or 4 bytes, or a length and that many bytes. Ends at what is no field.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}
  // The content of the next field with this number; nothing at the end.
  std::optional<std::string_view> next(std::uint64_t number) {
    while (const auto key = varint())
      if (const auto content = field(*key & 7); !content)
        return std::nullopt;
      else if (*key >> 3 == number)
        return content;
    return std::nullopt;
  }

 private:
  std::optional<std::string_view> field(std::uint64_t kind) {
    constexpr std::uint64_t kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5;
    if (kind == kVarint) return varint() ? std::optional(std::string_view()) : std::nullopt;
    if (kind == kEightBytes) return take(8);
    if (kind == kFourBytes) return take(4);
    const auto length = kind == kBytes ? varint() : std::nullopt;
    return length ? take(*length) : std::nullopt;
  }
  std::optional<std::string_view> take(std::uint64_t size) {
    if (size > rest_.size()) return std::nullopt;
    const auto taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
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

std::string_view first(std::string_view message, std::uint64_t number) {
  return Message(message).next(number).value_or("");
}

DimensionSymbols symbols_of(std::string_view value_info) {
  DimensionSymbols input{std::string(first(value_info, kName)), {}};
  Message shape(first(first(first(value_info, kType), kTensorType), kShape));
  while (const auto dimension = shape.next(kDim)) input.symbols.emplace_back(first(*dimension, kDimParam));
  return input;
}

}  // namespace

std::vector<DimensionSymbols> read_dimension_symbols(const std::string& file) {
  const MappedFile mapped(file);
  Message graph(first(mapped.bytes(), kGraph));
  std::vector<DimensionSymbols> inputs;
  while (const auto input = graph.next(kInput)) inputs.push_back(symbols_of(*input));
  return inputs;
}

}  // namespace paceline::ort_plugin
