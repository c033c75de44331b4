// SPDX-License-Identifier: MIT
#include "onnx/summation_order.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

constexpr std::int64_t kFirstOpset = 11;  // CumSum

struct Reduction {
  std::string_view op;
  bool mean;
};
constexpr std::array kReductions{Reduction{"ReduceSum", false}, Reduction{"ReduceMean", true},
                                 Reduction{"GlobalAveragePool", true}};

using Axes = std::vector<std::int64_t>;
using Nodes = google::protobuf::RepeatedPtrField<proto::NodeProto>;

// The axes of a reduction; empty: all of them. Nothing where they are not constant.
std::optional<Axes> axes_of(const proto::NodeProto& node, const Nodes& nodes,
                            const proto::GraphProto& graph) {
  if (int_attribute(node, "noop_with_empty_axes", 0) != 0) return std::nullopt;
  if (node.input_size() < 2 || node.input(1).empty()) return ints_attribute(node, "axes");
  const auto& given = graph.initializer();
  if (const auto it = std::ranges::find(given, node.input(1), &proto::TensorProto::name); it != given.end())
    return ints_of(*it);
  for (const auto& other : nodes)
    if (other.op_type() == "Constant" && other.output_size() == 1 && other.output(0) == node.input(1))
      if (const auto* value = find_attribute(other, "value")) return ints_of(value->t());
  return std::nullopt;
}

// Writes the nodes of one sum in sequence.
class Sequence {
 public:
  Sequence(proto::GraphProto& graph, std::string name) : graph_(graph), name_(std::move(name)) {}

  std::string node(const std::string& op, std::vector<std::string> inputs) {
    const std::string output = name_ + "/" + std::to_string(count_++);
    last_ = &add_node(graph_, op, output, inputs, std::array{output});
    return output;
  }
  std::string constant(const Axes& values, bool scalar = false) {
    const std::string name = name_ + "/" + std::to_string(count_++);
    *graph_.add_initializer() = make_tensor(
        name, scalar ? Shape{} : Shape{static_cast<std::int64_t>(values.size())}, std::span(values));
    return name;
  }
  std::string number(float value) {
    const std::string name = name_ + "/" + std::to_string(count_++);
    *graph_.add_initializer() = make_tensor(name, Shape{}, std::span(&value, 1));
    return name;
  }
  template <typename Value>
  std::string with(std::string output, const std::string& attribute, Value value) {
    set_attribute(*last_, attribute, value);
    return output;
  }
  // The sums along `axis`, which keeps one element.
  std::string along(const std::string& x, std::int64_t axis) {
    const auto sums = node("CumSum", {x, constant({axis}, true)});
    return with(node("Gather", {sums, constant({-1})}), "axis", axis);
  }
  // How many elements of `x` are in each of `sums`.
  std::string elements(const std::string& x, const std::string& sums) {
    const auto ratio = node("Div", {node("Size", {x}), node("Size", {sums})});
    return with(node("Cast", {ratio}), "to", std::int64_t{proto::TensorProto::FLOAT});
  }

 private:
  proto::GraphProto& graph_;
  std::string name_;
  proto::NodeProto* last_ = nullptr;
  int count_ = 0;
};

// Neighbouring axes, which are summed as one.
struct Block {
  std::int64_t first, count;
};

// In the order of their sums: none moves the axes of a later one. Axes counted from both ends stay apart.
std::vector<Block> blocks_of(Axes axes) {
  std::ranges::sort(axes);
  const bool mixed = axes.front() < 0 && axes.back() >= 0;
  std::vector<Block> blocks;
  for (const std::int64_t axis : axes) {
    const bool next = !mixed && !blocks.empty() && blocks.back().first + blocks.back().count == axis;
    next ? void(++blocks.back().count) : blocks.push_back({axis, 1});
  }
  if (axes.front() >= 0) std::ranges::reverse(blocks);
  return blocks;
}

// The values of a block along one axis.
std::string flattened(Sequence& to, const std::string& x, const Block& block) {
  const auto shape = to.node("Shape", {x});
  const auto part = [&](std::int64_t from, std::int64_t end) {
    return to.node("Slice", {shape, to.constant({from}), to.constant({end}), to.constant({0})});
  };
  std::vector<std::string> parts{part(0, block.first), to.constant({-1})};
  if (const auto end = block.first + block.count; end != 0)
    parts.push_back(part(end, std::numeric_limits<std::int64_t>::max()));
  return to.node("Reshape", {x, to.with(to.node("Concat", parts), "axis", std::int64_t{0})});
}

// The sum of `x`, each of whose axes keeps one element.
std::string summed_by_axis(Sequence& to, const proto::NodeProto& node, const std::string& x,
                           const Axes& axes) {
  const auto rest = [&](const Axes& flat, std::int64_t axis) {
    return to.along(to.node("Reshape", {to.along(x, -1), to.constant(flat)}), axis);
  };
  if (node.op_type() == "GlobalAveragePool") return rest({0, 0, -1}, 2);
  if (axes.empty()) return rest({-1}, 0);
  std::string sum = x;
  for (const std::int64_t axis : axes) sum = to.along(sum, axis);
  return sum;
}

std::string summed_at_once(Sequence& to, const proto::NodeProto& node, const std::string& x,
                           const Axes& axes) {
  if (node.op_type() == "GlobalAveragePool")
    return to.along(to.node("Reshape", {x, to.constant({0, 0, -1})}), 2);
  if (axes.empty()) return to.along(to.node("Reshape", {x, to.constant({-1})}), 0);
  std::string sum = x;
  for (const auto& block : blocks_of(axes))
    sum = block.count == 1 ? to.along(sum, block.first)
                           : to.along(flattened(to, sum, block),
                                      block.first < 0 ? block.first + block.count - 1 : block.first);
  return sum;
}

// Sums over one axis run alike in both orders.
bool has_several(const proto::NodeProto& node, const Axes& axes) {
  return node.op_type() == "GlobalAveragePool" || axes.empty() ||
         std::ranges::any_of(blocks_of(axes), [](const Block& block) { return block.count > 1; });
}

// The node stays for the shape of its output, under another name.
void rewrite(proto::GraphProto& graph, proto::NodeProto node, const Axes& axes, bool mean, SumOrder order) {
  const std::string output = node.output(0), whole = output + "/whole";
  node.set_output(0, whole);
  *graph.add_node() = node;
  Sequence to(graph, output + "/in_sequence");
  auto sum = (order == SumOrder::kAtOnce ? summed_at_once : summed_by_axis)(to, node, node.input(0), axes);
  if (mean) {
    sum = to.node("Div", {sum, to.elements(node.input(0), whole)});
  }
  const auto shape = to.node("Shape", {whole});
  add_node(graph, "Reshape", output + "/in_sequence", std::array{sum, shape}, std::array{output});
}

constexpr std::string_view kOverPixels = "InstanceNormalization", kOverLayer = "LayerNormalization";

// Norms whose mean and variance engines sum themselves.
bool is_norm(const proto::NodeProto& node) {
  const bool one_output = std::count_if(node.output().begin(), node.output().end(),
                                        [](const auto& name) { return !name.empty(); }) == 1;
  return is_standard(node) && one_output && (node.op_type() == kOverPixels || node.op_type() == kOverLayer);
}

// `x` with mean 0 and variance 1 along its last axis.
std::string normalised(Sequence& to, const std::string& x, float epsilon) {
  const auto mean = [&](const std::string& values) {
    const auto sums = to.along(values, -1);
    return to.node("Div", {sums, to.elements(values, sums)});
  };
  const auto centred = to.node("Sub", {x, mean(x)});
  const auto variance = mean(to.node("Mul", {centred, centred}));
  return to.node("Div", {centred, to.node("Sqrt", {to.node("Add", {variance, to.number(epsilon)})})});
}

void rewrite_norm(proto::GraphProto& graph, const proto::NodeProto& node) {
  constexpr float kEpsilon = 1e-5F;  // of both operators
  const auto* given = find_attribute(node, "epsilon");
  const float epsilon = given ? given->f() : kEpsilon;
  const std::string& x = node.input(0);
  Sequence to(graph, node.output(0) + "/in_sequence");
  const auto shape = to.node("Shape", {x});
  std::vector<std::string> rest(node.input().begin() + 1, node.input().end());
  std::string values;
  if (node.op_type() == kOverPixels) {
    for (auto& one : rest) one = to.node("Reshape", {one, to.constant({1, -1, 1})});
    values = normalised(to, to.node("Reshape", {x, to.constant({0, 0, -1})}), epsilon);
    values = to.node("Add", {to.node("Mul", {values, rest.at(0)}), rest.at(1)});
    add_node(graph, "Reshape", node.output(0), std::array{values, shape}, std::array{node.output(0)});
    return;
  }
  const auto axis = int_attribute(node, "axis", -1);
  const auto outer = to.node("Slice", {shape, to.constant({0}), to.constant({axis}), to.constant({0})});
  const auto flat = to.with(to.node("Concat", {outer, to.constant({-1})}), "axis", std::int64_t{0});
  values = normalised(to, to.node("Reshape", {x, flat}), epsilon);
  values = to.node("Mul", {to.node("Reshape", {values, shape}), rest.at(0)});
  const bool bias = rest.size() > 1 && !rest[1].empty();
  add_node(graph, bias ? "Add" : "Identity", node.output(0),
           bias ? std::vector{values, rest[1]} : std::vector{values}, std::array{node.output(0)});
}

}  // namespace

int sum_in_sequence(proto::ModelProto& model, SumOrder order) {
  if (opset_version(model) < kFirstOpset) return 0;
  auto& graph = *model.mutable_graph();
  Nodes nodes;
  nodes.Swap(graph.mutable_node());
  int rewritten = 0;
  for (const auto& node : nodes) {
    if (order == SumOrder::kAtOnce && is_norm(node)) {
      rewrite_norm(graph, node);
      ++rewritten;
      continue;
    }
    const auto* row = std::ranges::find(kReductions, std::string_view(node.op_type()), &Reduction::op);
    const auto axes =
        row == kReductions.end() || !is_standard(node) ? std::nullopt : axes_of(node, nodes, graph);
    if (!axes) {
      *graph.add_node() = node;
      continue;
    }
    rewrite(graph, node, *axes, row->mean, order);
    if (order == SumOrder::kAxisByAxis || has_several(node, *axes)) ++rewritten;
  }
  return rewritten;
}

}  // namespace paceline::onnx
