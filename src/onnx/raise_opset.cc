// SPDX-License-Identifier: MIT
#include "onnx/raise_opset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

constexpr std::int64_t kOldest = 9;
constexpr std::int64_t kIrVersion = 7;  // the IR version of operator set 13

// Operators whose meaning changed, and the set in which it did
// (https://github.com/onnx/onnx/blob/main/docs/Changelog.md). Others only accept more types in these sets.
struct Change {
  std::string_view op;
  std::int64_t set;
};
constexpr std::array kChanges{Change{"Upsample", 10}, Change{"Resize", 11}, Change{"Scatter", 11}};
// Before set 13 these flatten the input at their axis, which makes no difference for the last dimension.
constexpr std::array<std::string_view, 3> kFlattening{"Softmax", "LogSoftmax", "Hardmax"};
constexpr std::int64_t kFlattensUntil = 13;

// Attributes that became inputs in a set, in the order of those inputs.
enum class Form { kFloat, kInts };
struct Moved {
  std::string_view op;
  std::int64_t set;
  int input;
  std::string_view attribute;
  Form form;
};
constexpr std::array kMoved{
    Moved{"Slice", 10, 1, "starts", Form::kInts},   Moved{"Slice", 10, 2, "ends", Form::kInts},
    Moved{"Slice", 10, 3, "axes", Form::kInts},     Moved{"TopK", 10, 1, "k", Form::kInts},
    Moved{"Clip", 11, 1, "min", Form::kFloat},      Moved{"Clip", 11, 2, "max", Form::kFloat},
    Moved{"Pad", 11, 1, "pads", Form::kInts},       Moved{"Pad", 11, 2, "value", Form::kFloat},
    Moved{"Dropout", 12, 1, "ratio", Form::kFloat}, Moved{"Squeeze", 13, 1, "axes", Form::kInts},
    Moved{"Unsqueeze", 13, 1, "axes", Form::kInts}, Moved{"ReduceSum", 13, 1, "axes", Form::kInts},
    Moved{"Split", 13, 1, "split", Form::kInts},
};

bool has_subgraph(const proto::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const auto& attribute) { return attribute.has_g() || attribute.graphs_size() > 0; });
}

std::optional<int> rank_of(const proto::GraphProto& graph, const std::string& value) {
  for (const auto* list : {&graph.output(), &graph.value_info(), &graph.input()})
    for (const auto& info : *list)
      if (info.name() == value && info.type().tensor_type().has_shape())
        return info.type().tensor_type().shape().dim_size();
  return std::nullopt;
}

// Whether its axis is the last one, as far as the file tells.
bool over_the_last_axis(const proto::GraphProto& graph, const proto::NodeProto& node) {
  const auto axis = int_attribute(node, "axis", 1);
  if (axis == -1) return true;
  const auto declared = rank_of(graph, node.output(0));
  const auto rank = declared ? declared : rank_of(graph, node.input(0));
  return rank && axis == *rank - 1;
}

bool is_flattening(const proto::NodeProto& node) {
  return std::find(kFlattening.begin(), kFlattening.end(), node.op_type()) != kFlattening.end();
}

bool changes(const proto::GraphProto& graph, const proto::NodeProto& node, std::int64_t set) {
  if (!is_standard(node)) return false;
  if (has_subgraph(node)) return true;
  if (set == kFlattensUntil && is_flattening(node)) return !over_the_last_axis(graph, node);
  return std::any_of(kChanges.begin(), kChanges.end(),
                     [&](const Change& change) { return change.op == node.op_type() && change.set == set; });
}

const proto::NodeProto* first_that_changes(const proto::GraphProto& graph, std::int64_t set) {
  const auto found = std::find_if(graph.node().begin(), graph.node().end(),
                                  [&](const auto& node) { return changes(graph, node, set); });
  return found == graph.node().end() ? nullptr : &*found;
}

void remove_attribute(proto::NodeProto& node, const std::string& name) {
  auto& list = *node.mutable_attribute();
  list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& a) { return a.name() == name; }),
             list.end());
}

proto::TensorProto tensor_of(const proto::AttributeProto& attribute, const Moved& moved,
                             const std::string& name) {
  const float number = attribute.f();
  if (moved.form == Form::kFloat) return make_tensor(name, Shape{}, std::span<const float>(&number, 1));
  std::vector<std::int64_t> values(attribute.ints().begin(), attribute.ints().end());
  if (values.empty()) values.push_back(attribute.i());
  return make_tensor(name, Shape{static_cast<std::int64_t>(values.size())}, values);
}

void move_attributes(proto::GraphProto& graph, proto::NodeProto& node, std::int64_t set) {
  for (const auto& moved : kMoved) {
    if (moved.op != node.op_type() || moved.set != set) continue;
    const std::string attribute(moved.attribute);
    const auto* value = find_attribute(node, attribute);
    if (!value) continue;
    const std::string name = fmt::format("{}/{}", node.output(0), moved.attribute);
    *graph.add_initializer() = tensor_of(*value, moved, name);
    while (node.input_size() <= moved.input) node.add_input("");
    node.set_input(moved.input, name);
    remove_attribute(node, attribute);
  }
}

// Writes the axis out, because its default changes in set 13.
void write_axis(proto::NodeProto& node, std::int64_t set) {
  if (set == kFlattensUntil && is_flattening(node)) set_attribute(node, "axis", std::int64_t{-1});
}

void set_opset(proto::ModelProto& model, std::int64_t version) {
  for (auto& set : *model.mutable_opset_import())
    if (set.domain().empty() || set.domain() == "ai.onnx") set.set_version(version);
  model.set_ir_version(std::max<std::int64_t>(model.ir_version(), kIrVersion));
}

}  // namespace

RaisedOpset raise_opset(proto::ModelProto& model) {
  auto& graph = *model.mutable_graph();
  const auto version = opset_version(model);
  RaisedOpset raised{version, version, {}};
  if (version < kOldest) return raised;
  for (auto next = version + 1; next <= kPerChannelOpset; ++next) {
    if (const auto* node = first_that_changes(graph, next)) {
      raised.stopped_by = node->op_type();
      break;
    }
    for (auto& node : *graph.mutable_node()) {
      if (!is_standard(node)) continue;
      move_attributes(graph, node, next);
      write_axis(node, next);
    }
    raised.to = next;
  }
  if (raised.to != version) set_opset(model, raised.to);
  return raised;
}

}  // namespace paceline::onnx
