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

using Names = std::vector<std::string>;

constexpr std::int64_t kOldest = 9;
constexpr std::int64_t kIrVersion = 7;  // the IR version of operator set 13

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

std::optional<int> declared_rank(const proto::GraphProto& graph, const std::string& value) {
  for (const auto* list : {&graph.output(), &graph.value_info(), &graph.input()})
    for (const auto& info : *list)
      if (info.name() == value && info.type().tensor_type().has_shape())
        return info.type().tensor_type().shape().dim_size();
  return std::nullopt;
}

bool is_flattening(const proto::NodeProto& node) {
  return is_standard(node) &&
         std::find(kFlattening.begin(), kFlattening.end(), node.op_type()) != kFlattening.end();
}

std::optional<int> rank_of_flattening(const proto::GraphProto& graph, const proto::NodeProto& node) {
  const auto rank = declared_rank(graph, node.output(0));
  return rank ? rank : declared_rank(graph, node.input(0));
}

const proto::TensorProto* constant(const proto::GraphProto& graph, const std::string& name) {
  const auto& all = graph.initializer();
  const auto it = std::find_if(all.begin(), all.end(), [&](const auto& t) { return t.name() == name; });
  return it == all.end() ? nullptr : &*it;
}

// Set 10 does not say which of two neighbours "nearest" takes when it shrinks.
bool enlarges(const proto::GraphProto& graph, const proto::NodeProto& node) {
  const auto* scales = node.input_size() == 2 ? constant(graph, node.input(1)) : nullptr;
  if (!scales || scales->data_type() != proto::TensorProto::FLOAT) return false;
  const auto factors = floats_of(*scales);
  return std::all_of(factors.begin(), factors.end(), [](float factor) { return factor >= 1; });
}

bool has_scales(const proto::GraphProto&, const proto::NodeProto& node) {
  return node.input_size() == 2;
}

bool has_updates(const proto::GraphProto&, const proto::NodeProto& node) {
  return node.input_size() == 3;
}

void to_resize(proto::NodeProto& node) {
  node.set_op_type("Resize");
}

void to_scatter_elements(proto::NodeProto& node) {
  node.set_op_type("ScatterElements");
}

void set_word(proto::NodeProto& node, const char* name, const char* word) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(proto::AttributeProto::STRING);
  attribute.set_s(word);
}

// The coordinates that set 10 had without a name.
void name_coordinates(proto::NodeProto& node) {
  node.add_input(node.input(1));
  node.set_input(1, "");  // no region of interest
  set_word(node, "coordinate_transformation_mode", "asymmetric");
  set_word(node, "nearest_mode", "floor");
}

// Operators that have another form from a set on, and when they can take it
// (https://github.com/onnx/onnx/blob/main/docs/Changelog.md). Others only accept more types in these sets.
struct Change {
  std::string_view op;
  std::int64_t set;
  bool (*possible)(const proto::GraphProto& graph, const proto::NodeProto& node);
  void (*rewrite)(proto::NodeProto& node);
};
constexpr std::array kChanges{Change{"Upsample", 10, has_scales, to_resize},
                              Change{"Resize", 11, enlarges, name_coordinates},
                              Change{"Scatter", 11, has_updates, to_scatter_elements}};

const Change* change_of(const proto::NodeProto& node, std::int64_t set) {
  const auto row = std::find_if(kChanges.begin(), kChanges.end(), [&](const Change& change) {
    return is_standard(node) && change.op == node.op_type() && change.set == set;
  });
  return row == kChanges.end() ? nullptr : &*row;
}

template <typename Node, typename Visit>
void for_each_branch(Node& node, const Visit& visit) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) visit(*attribute.mutable_g());
    for (auto& graph : *attribute.mutable_graphs()) visit(graph);
  }
}

// The first node, also of branches and loops, that has no equal in a set; null: each has one.
const proto::NodeProto* first_without_equal(proto::GraphProto& graph, std::int64_t set) {
  const proto::NodeProto* found = nullptr;
  for (auto& node : *graph.mutable_node()) {
    const auto* change = change_of(node, set);
    if (!found && change && !change->possible(graph, node)) found = &node;
    for_each_branch(node, [&](proto::GraphProto& inner) {
      if (!found) found = first_without_equal(inner, set);
    });
  }
  return found;
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

// A softmax of set 13 computes over one axis, so one over several takes its input as a matrix.
void add_flattened(proto::GraphProto& nodes, proto::NodeProto node, std::int64_t axis) {
  const std::string input = node.input(0), output = node.output(0);
  add_node(nodes, "Shape", output + "/shape", Names{input}, Names{output + "/shape"});
  auto& flat = add_node(nodes, "Flatten", output + "/flat", Names{input}, Names{output + "/flat"});
  set_attribute(flat, "axis", axis);
  node.set_input(0, output + "/flat");
  node.set_output(0, output + "/rows");
  set_attribute(node, "axis", std::int64_t{-1});
  *nodes.add_node() = std::move(node);
  add_node(nodes, "Reshape", output + "/reshape", Names{output + "/rows", output + "/shape"}, Names{output});
}

class Raiser {
 public:
  Raiser(std::int64_t set, const Ranks& ranks) : set_(set), ranks_(ranks) {}

  void raise(proto::GraphProto& graph) const {
    proto::GraphProto nodes;
    for (auto& node : *graph.mutable_node()) {
      for_each_branch(node, [&](proto::GraphProto& inner) { raise(inner); });
      if (const auto* change = change_of(node, set_)) change->rewrite(node);
      if (is_standard(node)) move_attributes(graph, node, set_);
      if (set_ == kFlattensUntil && is_flattening(node))
        raise_flattening(graph, nodes, node);
      else
        *nodes.add_node() = std::move(node);
    }
    graph.mutable_node()->Swap(nodes.mutable_node());
  }

 private:
  void raise_flattening(const proto::GraphProto& graph, proto::GraphProto& nodes,
                        proto::NodeProto& node) const {
    const auto axis = int_attribute(node, "axis", 1);
    auto rank = rank_of_flattening(graph, node);
    if (const auto it = ranks_.find(node.input(0)); it != ranks_.end()) rank = it->second;
    if (axis != -1 && !(rank && axis == *rank - 1)) return add_flattened(nodes, std::move(node), axis);
    set_attribute(node, "axis", std::int64_t{-1});  // its default changes in set 13
    *nodes.add_node() = std::move(node);
  }

  std::int64_t set_;
  const Ranks& ranks_;
};

void set_opset(proto::ModelProto& model, std::int64_t version) {
  for (auto& set : *model.mutable_opset_import())
    if (set.domain().empty() || set.domain() == "ai.onnx") set.set_version(version);
  model.set_ir_version(std::max<std::int64_t>(model.ir_version(), kIrVersion));
}

}  // namespace

RaisedOpset raise_opset(proto::ModelProto& model, const Ranks& ranks) {
  auto& graph = *model.mutable_graph();
  const auto version = opset_version(model);
  RaisedOpset raised{version, version, {}};
  if (version < kOldest) return raised;
  for (auto next = version + 1; next <= kPerChannelOpset; ++next) {
    if (const auto* node = first_without_equal(graph, next)) {
      raised.stopped_by = fmt::format("{} ({})", layer_name(*node), node->op_type());
      break;
    }
    Raiser(next, ranks).raise(graph);
    raised.to = next;
  }
  if (raised.to != version) set_opset(model, raised.to);
  return raised;
}

std::set<std::string> undeclared_ranks(const proto::ModelProto& model) {
  std::set<std::string> values;
  if (const auto version = opset_version(model); version < kOldest || version >= kFlattensUntil)
    return values;
  for (const auto& node : model.graph().node())
    if (is_flattening(node) && int_attribute(node, "axis", 1) != -1 &&
        !rank_of_flattening(model.graph(), node))
      values.insert(node.input(0));
  return values;
}

}  // namespace paceline::onnx
