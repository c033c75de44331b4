// SPDX-License-Identifier: MIT
// Converts types and shapes between ours and TensorRT's.
#pragma once
#include <NvInfer.h>

#include <optional>
#include <string_view>

#include "base/tensor.h"

namespace paceline::tensorrt_plugin {

// None for types without a counterpart here: 4-bit and 8-bit floats, 4-bit integers.
std::optional<DType> from_tensorrt(nvinfer1::DataType type);
std::string_view type_name(nvinfer1::DataType type);  // float32; "a type of its own" for those

// Throws Error(kUnsupported) above the eight dimensions that the library has.
nvinfer1::Dims to_dims(const Shape& shape);
Shape from_dims(const nvinfer1::Dims& dims);  // -1 for an open dimension

}  // namespace paceline::tensorrt_plugin
