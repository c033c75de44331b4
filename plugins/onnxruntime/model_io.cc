// SPDX-License-Identifier: MIT
#include "onnxruntime/model_io.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "onnxruntime/tensors.h"

namespace paceline::ort_plugin {
namespace {

std::string type_name(const Ort::TypeInfo& info) {
  if (info.GetONNXType() != ONNX_TYPE_TENSOR) return "no tensor";
  const auto type = info.GetTensorTypeAndShapeInfo().GetElementType();
  const auto dtype = from_onnx(type);
  return dtype ? std::string(dtype_name(*dtype)) : fmt::format("type {} of ONNX", static_cast<int>(type));
}

}  // namespace

std::vector<plugin_support::DeclaredInput> declared_inputs(const Ort::Session& session) {
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<plugin_support::DeclaredInput> inputs;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i) {
    const auto info = session.GetInputTypeInfo(i);
    auto& input = inputs.emplace_back();
    input.name = session.GetInputNameAllocated(i, allocator).get();
    input.type = type_name(info);
    if (info.GetONNXType() != ONNX_TYPE_TENSOR) continue;
    const auto tensor = info.GetTensorTypeAndShapeInfo();
    const auto shape = tensor.GetShape();
    std::vector<const char*> symbols(shape.size());  // memory of the session
    tensor.GetSymbolicDimensions(symbols.data(), symbols.size());
    for (std::size_t d = 0; d < shape.size(); ++d)
      input.shape.push_back(plugin_support::dimension_text(shape[d], symbols[d]));
  }
  return inputs;
}

std::vector<DeclaredInput> inputs_of(const Ort::Session& session) {
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<DeclaredInput> inputs;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i) {
    const auto info = session.GetInputTypeInfo(i);
    const std::string name = session.GetInputNameAllocated(i, allocator).get();
    if (info.GetONNXType() != ONNX_TYPE_TENSOR)
      throw Error(
          ErrorCode::kUnsupported,
          fmt::format("input '{}' is no tensor, which is not supported; export the model with tensors "
                      "as inputs",
                      name));
    const auto tensor = info.GetTensorTypeAndShapeInfo();
    auto& input =
        inputs.emplace_back(DeclaredInput{name, from_onnx(tensor.GetElementType()), tensor.GetShape()});
    std::vector<const char*> symbols(input.shape->size());  // memory of the session
    tensor.GetSymbolicDimensions(symbols.data(), symbols.size());
    input.symbols.assign(symbols.begin(), symbols.end());
  }
  return inputs;
}

// An unknown number of dimensions looks like none, as a loop's result has it.
bool ModelOutput::allocatable() const {
  return dtype && !shape.empty() &&
         std::all_of(shape.begin(), shape.end(), [](auto size) { return size >= 0; });
}

std::vector<ModelOutput> model_outputs(const Ort::Session& session) {
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<ModelOutput> outputs;
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i) {
    auto& output = outputs.emplace_back();
    output.name = session.GetOutputNameAllocated(i, allocator).get();
    const auto info = session.GetOutputTypeInfo(i);
    if (info.GetONNXType() != ONNX_TYPE_TENSOR) continue;
    const auto tensor = info.GetTensorTypeAndShapeInfo();
    output.dtype = from_onnx(tensor.GetElementType());
    output.shape = tensor.GetShape();
  }
  return outputs;
}

}  // namespace paceline::ort_plugin
