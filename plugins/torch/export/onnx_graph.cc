// SPDX-License-Identifier: MIT
#include "torch/export/onnx_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/ir/constants.h>

#include "base/error.h"
#include "base/text.h"
#include "onnx/graph.h"
#include "torch/tensors.h"
#include "torch/weights.h"

namespace paceline::torch_plugin {
namespace jit = torch::jit;
namespace {

at::Tensor tensor_at(const jit::Module& module, const std::string& path) {
  const auto parts = split(path, '.');
  jit::Module owner = module;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) owner = owner.attr(parts[i]).toModule();
  return owner.attr(parts.back()).toTensor();
}

}  // namespace

OnnxGraph::OnnxGraph(onnx::proto::GraphProto& graph, const jit::Module& module, std::int64_t opset)
    : graph_(graph), module_(module), opset_(opset) {}

Shape OnnxGraph::shape(const Value* value) {
  const auto type = value->type()->cast<c10::TensorType>();
  const auto sizes = type ? type->sizes().concrete_sizes() : std::nullopt;
  if (!sizes)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the shape of value '{}' is not known", value->debugName()));
  return {sizes->begin(), sizes->end()};
}

c10::IValue OnnxGraph::constant(const Value* value) {
  if (const auto constant = jit::toIValue(value)) return *constant;
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("value '{}' is computed in the model where ONNX wants a constant", value->debugName()));
}

std::vector<std::int64_t> OnnxGraph::integers(const Value* value) {
  if (value->node()->kind() == c10::prim::ListConstruct) {
    std::vector<std::int64_t> result;
    for (const auto* input : value->node()->inputs()) result.push_back(integer(input));
    return result;
  }
  return constant(value).toIntVector();
}

bool OnnxGraph::is_none(const Value* value) {
  const auto constant = jit::toIValue(value);
  return constant && constant->isNone();
}

std::optional<at::Tensor> OnnxGraph::weight(const Value* value) const {
  if (const auto path = paths_.find(value); path != paths_.end()) return tensor_at(module_, path->second);
  const auto constant = jit::toIValue(value);
  return constant && constant->isTensor() ? std::optional(constant->toTensor()) : std::nullopt;
}

std::string OnnxGraph::fresh(const std::string& base) {
  const int count = used_[base]++;
  return count == 0 ? base : fmt::format("{}_{}", base, count);
}

std::string OnnxGraph::store(const std::string& name, const at::Tensor& tensor) {
  if (stored_[name]) return name;
  stored_[name] = true;
  const at::Tensor plain = tensor.detach().contiguous();
  *graph_.add_initializer() =
      onnx::make_tensor(name, from_torch(plain.scalar_type()), {plain.sizes().begin(), plain.sizes().end()},
                        plain.const_data_ptr());
  return name;
}

std::string OnnxGraph::store(const std::vector<std::int64_t>& values) {
  const auto name = fmt::format("constant_{}", fmt::join(values, "_"));
  return store(name, at::tensor(values, at::kLong));
}

std::string OnnxGraph::name(const Value* value) {
  if (const auto known = names_.find(value); known != names_.end()) return known->second;
  if (const auto path = paths_.find(value); path != paths_.end())
    return names_[value] = store(path->second, tensor_at(module_, path->second));
  if (const auto tensor = weight(value)) return names_[value] = store(fresh("constant"), *tensor);
  throw Error(ErrorCode::kInternal, fmt::format("value '{}' has no ONNX name", value->debugName()));
}

std::string OnnxGraph::transposed_name(const Value* value) {
  const auto tensor = weight(value);
  const auto path = paths_.find(value);
  const bool elsewhere = path == paths_.end() || stored_[path->second];
  if (!tensor || elsewhere) {
    auto& node = add("Transpose", {name(value)});
    onnx::set_attribute(node, "perm", std::vector<std::int64_t>{1, 0});
    return output_of(node);
  }
  return store(path->second + "_transposed", tensor->t());
}

void OnnxGraph::begin(const Node* node) {
  node_ = node;
  layer_.clear();
  for (const auto* input : node->inputs())
    if (const auto path = paths_.find(input); path != paths_.end() && layer_.empty())
      layer_ = layer_of(path->second);
}

onnx::proto::NodeProto& OnnxGraph::add(const std::string& op, const Names& inputs) {
  const auto name = fresh(layer_.empty() ? op : layer_ + "/" + op);
  return onnx::add_node(graph_, op, name, inputs, Names{name + ":0"});
}

onnx::proto::NodeProto& OnnxGraph::add(const std::string& op, const Names& inputs, const Value* output) {
  auto& node = add(op, inputs);
  if (const auto known = names_.find(output); known != names_.end())
    node.set_output(0, known->second);  // an output of the graph has a name already
  else
    names_[output] = node.output(0);
  return node;
}

void OnnxGraph::require_opset(std::int64_t version, const std::string& op) const {
  if (opset_ < version) unsupported(fmt::format("{} needs opset {}, {} was asked for", op, version, opset_));
}

void OnnxGraph::unsupported(const std::string& why) const {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("operator {} in layer '{}': {}", node_->kind().toQualString(),
                          layer_.empty() ? "(no parameters)" : layer_, why));
}

}  // namespace paceline::torch_plugin
