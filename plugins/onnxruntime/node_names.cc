// SPDX-License-Identifier: MIT
#include "onnxruntime/node_names.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/lower_case.h"
#include "base/model_content.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "support/layer_work.h"

namespace paceline::ort_plugin {
namespace {

constexpr std::array<std::string_view, 3> kWork{"Conv", "MatMul", "Gemm"};
constexpr int kFurthest = 6;  // nodes fused into one: normalisation, addition, activation, quantisation

// "conv1" is not a part of "conv10".
bool holds(const std::string& text, const std::string& name) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool begins = at == 0 || !is_letter_or_digit(text[at - 1]);
    if (begins && (end == text.size() || !is_letter_or_digit(text[end]))) return true;
  }
  return false;
}

// Conv, FusedConv, QLinearConv, MatMul, FusedMatMul, Gemm, …
bool is_work(const std::string& op) {
  return std::any_of(kWork.begin(), kWork.end(),
                     [&](std::string_view word) { return op.find(word) != std::string::npos; });
}

}  // namespace

NodeNames::NodeNames(const std::string& file) {
  if (model_suffix(file) != ".onnx") return;
  const auto model = onnx::read_without_data(file);
  std::map<std::string, std::size_t> makers;
  std::map<std::string, Shape> tensors;
  for (const auto& tensor : model.graph().initializer())
    tensors[tensor.name()] = {tensor.dims().begin(), tensor.dims().end()};
  for (const auto& node : model.graph().node()) {
    const auto index = nodes_.size();
    nodes_.push_back({onnx::layer_name(node), node.op_type(), {}, {}});
    if (const auto weights = node.input_size() > 1 ? tensors.find(node.input(1)) : tensors.end();
        weights != tensors.end())
      nodes_.back().weights = weights->second;
    for (const auto& input : node.input())  // nodes are in order of execution
      if (const auto maker = makers.find(input); maker != makers.end())
        nodes_.back().producers.push_back(maker->second);
    names_.emplace_back(nodes_.back().name, index);
    for (const auto& output : node.output()) {
      if (output.empty()) continue;
      makers[output] = index;
      names_.emplace_back(output, index);
    }
  }
  std::stable_sort(names_.begin(), names_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

// The nearest convolution or matrix product among a node and its producers; without one the node itself.
std::size_t NodeNames::work_behind(std::size_t node) const {
  std::vector<std::size_t> level{node};
  for (int depth = 0; depth < kFurthest && !level.empty(); ++depth) {
    std::vector<std::size_t> next;
    for (const auto at : level) {
      if (is_work(nodes_[at].op)) return at;
      next.insert(next.end(), nodes_[at].producers.begin(), nodes_[at].producers.end());
    }
    level = std::move(next);
  }
  return node;
}

// Null where no name is contained.
const NodeNames::Node* NodeNames::node_of(const std::string& executed, const std::string& type) const {
  for (const auto& [name, node] : names_)
    if (holds(executed, name)) return &nodes_[is_work(type) ? work_behind(node) : node];
  return nullptr;
}

std::string NodeNames::layer_of(const std::string& executed, const std::string& type) const {
  const auto* node = node_of(executed, type);
  return node ? plugin_support::layer_of_node(node->name) : std::string();
}

Shape NodeNames::weights_of(const std::string& executed, const std::string& type) const {
  const auto* node = node_of(executed, type);
  return node && is_work(node->op) ? node->weights : Shape();
}

}  // namespace paceline::ort_plugin
