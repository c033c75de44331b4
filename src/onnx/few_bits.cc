// SPDX-License-Identifier: MIT
#include "onnx/few_bits.h"

#include <functional>

#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

constexpr const char* kLevel = "accuracy_level";
using Visit = std::function<void(proto::NodeProto&)>;

template <typename Owner>  // a graph or a function
void visit_few_bits(Owner& owner, const Visit& visit) {
  for (auto& node : *owner.mutable_node()) {
    if (node.op_type() == kFewBits) visit(node);
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) visit_few_bits(*attribute.mutable_g(), visit);
      for (auto& graph : *attribute.mutable_graphs()) visit_few_bits(graph, visit);
    }
  }
}

void visit_all(proto::ModelProto& model, const Visit& visit) {
  visit_few_bits(*model.mutable_graph(), visit);
  for (auto& function : *model.mutable_functions()) visit_few_bits(function, visit);
}

}  // namespace

std::map<std::string, std::int64_t> few_bits_levels(proto::ModelProto& model) {
  std::map<std::string, std::int64_t> levels;
  visit_all(model,
            [&](proto::NodeProto& node) { levels[layer_name(node)] = int_attribute(node, kLevel, 0); });
  return levels;
}

bool set_float_levels(proto::ModelProto& model) {
  bool changed = false;
  visit_all(model, [&](proto::NodeProto& node) {
    if (int_attribute(node, kLevel, 0) <= kFloatLevel) return;
    set_attribute(node, kLevel, kFloatLevel);
    changed = true;
  });
  return changed;
}

}  // namespace paceline::onnx
