// SPDX-License-Identifier: MIT
#include "tensorrt/tensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace paceline::tensorrt_plugin {
namespace {

struct TypePair {
  DType plain;
  nvinfer1::DataType tensorrt;
};
// Numbers of the types that headers of TensorRT 8.6 do not name.
constexpr auto kBF16 = static_cast<nvinfer1::DataType>(7), kINT64 = static_cast<nvinfer1::DataType>(8);
constexpr TypePair kTypePairs[] = {
    {DType::kFloat32, nvinfer1::DataType::kFLOAT},
    {DType::kFloat16, nvinfer1::DataType::kHALF},
    {DType::kBFloat16, kBF16},
    {DType::kInt8, nvinfer1::DataType::kINT8},
    {DType::kUInt8, nvinfer1::DataType::kUINT8},
    {DType::kInt32, nvinfer1::DataType::kINT32},
    {DType::kInt64, kINT64},
    {DType::kBool, nvinfer1::DataType::kBOOL},
};

}  // namespace

std::optional<DType> from_tensorrt(nvinfer1::DataType type) {
  for (const auto& pair : kTypePairs)
    if (pair.tensorrt == type) return pair.plain;
  return std::nullopt;
}

std::string_view type_name(nvinfer1::DataType type) {
  const auto dtype = from_tensorrt(type);
  return dtype ? dtype_name(*dtype) : "a type of its own";
}

nvinfer1::Dims to_dims(const Shape& shape) {
  nvinfer1::Dims dims{};
  if (shape.size() > static_cast<std::size_t>(nvinfer1::Dims::MAX_DIMS))
    throw Error(ErrorCode::kUnsupported, fmt::format("a tensor has {} dimensions; TensorRT takes at most {}",
                                                     shape.size(), int{nvinfer1::Dims::MAX_DIMS}));
  dims.nbDims = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), dims.d);
  return dims;
}

Shape from_dims(const nvinfer1::Dims& dims) {
  return {dims.d, dims.d + std::max(0, static_cast<int>(dims.nbDims))};
}

}  // namespace paceline::tensorrt_plugin
