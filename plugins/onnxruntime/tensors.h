// SPDX-License-Identifier: MIT
// Converts between plain tensors of the plug-in boundary and ONNX Runtime's.
#pragma once
#include <onnxruntime_cxx_api.h>

#include <optional>
#include <string>

#include "base/tensor.h"

namespace paceline::ort_plugin {

ONNXTensorElementDataType to_onnx(DType dtype);
// None for types without a counterpart here: strings, complex numbers, 4-bit and 8-bit floats.
std::optional<DType> from_onnx(ONNXTensorElementDataType type);

// A tensor on the caller's memory, which must outlive it.
Ort::Value borrow(const TensorView& view);

}  // namespace paceline::ort_plugin
