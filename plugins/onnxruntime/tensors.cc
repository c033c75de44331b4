// SPDX-License-Identifier: MIT
#include "onnxruntime/tensors.h"

#include <algorithm>
#include <iterator>

namespace paceline::ort_plugin {
namespace {

struct TypePair {
  DType plain;
  ONNXTensorElementDataType onnx;
};
constexpr TypePair kTypePairs[] = {
    {DType::kFloat32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
    {DType::kFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
    {DType::kBFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
    {DType::kFloat64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
    {DType::kInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
    {DType::kUInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
    {DType::kInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
    {DType::kInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
    {DType::kBool, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
    {DType::kInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
    {DType::kUInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
    {DType::kUInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
    {DType::kUInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
};
static_assert(std::size(kTypePairs) == std::size(kDTypes));

}  // namespace

ONNXTensorElementDataType to_onnx(DType dtype) {
  return std::find_if(std::begin(kTypePairs), std::end(kTypePairs),
                      [&](const TypePair& pair) { return pair.plain == dtype; })
      ->onnx;
}

std::optional<DType> from_onnx(ONNXTensorElementDataType type) {
  for (const auto& pair : kTypePairs)
    if (pair.onnx == type) return pair.plain;
  return std::nullopt;
}

Ort::Value borrow(const TensorView& view) {
  static const auto host = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  return Ort::Value::CreateTensor(host, view.data, view.size_bytes(), view.shape.data(), view.shape.size(),
                                  to_onnx(view.dtype));
}

}  // namespace paceline::ort_plugin
