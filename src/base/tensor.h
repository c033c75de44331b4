// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Plain tensors that cross the plug-in boundary. Standard library only; installed with the plug-in headers.
namespace paceline {

enum class DType : std::uint8_t {
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat64,
  kInt8,
  kUInt8,
  kInt32,
  kInt64,
  kBool,
  kInt16,
  kUInt16,
  kUInt32,
  kUInt64
};

struct DTypeRow {
  DType dtype;
  std::string_view name;  // as users write it: float32, int64
  std::size_t size_bytes;
};
inline constexpr DTypeRow kDTypes[] = {
    {DType::kFloat32, "float32", 4}, {DType::kFloat16, "float16", 2}, {DType::kBFloat16, "bfloat16", 2},
    {DType::kFloat64, "float64", 8}, {DType::kInt8, "int8", 1},       {DType::kUInt8, "uint8", 1},
    {DType::kInt32, "int32", 4},     {DType::kInt64, "int64", 8},     {DType::kBool, "bool", 1},
    {DType::kInt16, "int16", 2},     {DType::kUInt16, "uint16", 2},   {DType::kUInt32, "uint32", 4},
    {DType::kUInt64, "uint64", 8},
};
constexpr const DTypeRow& dtype_row(DType dtype) {
  return kDTypes[static_cast<std::size_t>(dtype)];
}
constexpr std::string_view dtype_name(DType dtype) {
  return dtype_row(dtype).name;
}
constexpr std::size_t dtype_size_bytes(DType dtype) {
  return dtype_row(dtype).size_bytes;
}
constexpr std::optional<DType> parse_dtype(std::string_view name) {
  for (const auto& row : kDTypes)
    if (row.name == name) return row.dtype;
  return std::nullopt;
}

enum class DeviceKind : std::uint8_t { kCpu, kCuda };
struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

using Shape = std::vector<std::int64_t>;
inline std::int64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, [](auto a, auto b) { return a * b; });
}

// Name, element type and shape, without data.
struct TensorSpec {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
};

// Memory with another owner. Strides are in elements; empty means contiguous, row-major.
struct TensorView {
  std::string name;
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  Shape shape;
  Shape strides;
  Device device;
  [[nodiscard]] std::size_t size_bytes() const {
    return static_cast<std::size_t>(element_count(shape)) * dtype_size_bytes(dtype);
  }
};

// Contiguous host memory that the tensor owns.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorSpec spec)
      : spec_(std::move(spec)),
        bytes_(static_cast<std::size_t>(element_count(spec_.shape)) * dtype_size_bytes(spec_.dtype)) {}
  [[nodiscard]] const TensorSpec& spec() const { return spec_; }
  [[nodiscard]] std::size_t size_bytes() const { return bytes_.size(); }
  [[nodiscard]] std::byte* data() { return bytes_.data(); }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }
  template <typename T>
  [[nodiscard]] T* as() {
    return reinterpret_cast<T*>(bytes_.data());
  }
  template <typename T>
  [[nodiscard]] const T* as() const {
    return reinterpret_cast<const T*>(bytes_.data());
  }
  [[nodiscard]] TensorView view() { return {spec_.name, bytes_.data(), spec_.dtype, spec_.shape, {}, {}}; }
  void rename(std::string name) { spec_.name = std::move(name); }

 private:
  TensorSpec spec_;
  std::vector<std::byte> bytes_;
};

}  // namespace paceline
