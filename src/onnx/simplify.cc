// SPDX-License-Identifier: MIT
#include "onnx/simplify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "onnx/constant_value.h"
#include "onnx/graph.h"
#include "onnx/inline_functions.h"

namespace paceline::onnx {
namespace {

constexpr std::int64_t kInitializersApart = 4;  // the IR version from which initializers need not be inputs

void drop_inputs_that_are_initializers(proto::ModelProto& model) {
  auto& graph = *model.mutable_graph();
  std::set<std::string> names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  auto& inputs = *graph.mutable_input();
  inputs.erase(
      std::remove_if(inputs.begin(), inputs.end(), [&](const auto& i) { return names.contains(i.name()); }),
      inputs.end());
  model.set_ir_version(std::max(model.ir_version(), kInitializersApart));
}

// Engines other than ONNX Runtime do not read the sparse form.
void dense_initializers(proto::GraphProto& graph) {
  proto::GraphProto kept;
  for (auto& sparse : *graph.mutable_sparse_initializer())
    if (auto dense = dense_of(sparse))
      *graph.add_initializer() = std::move(*dense);
    else
      *kept.add_sparse_initializer() = std::move(sparse);
  graph.mutable_sparse_initializer()->Swap(kept.mutable_sparse_initializer());
}

struct BatchNorm {
  std::vector<float> scale, shift, mean, variance;
  float epsilon = 1e-5F;
};

std::optional<std::vector<float>> constant_floats(const GraphIndex& index, const proto::NodeProto& node,
                                                  int input) {
  const auto* tensor = input < node.input_size() ? index.initializer(node.input(input)) : nullptr;
  if (!tensor || tensor->data_type() != proto::TensorProto::FLOAT) return std::nullopt;
  return floats_of(*tensor);
}

std::optional<BatchNorm> read_batch_norm(const GraphIndex& index, const proto::NodeProto& node) {
  if (int_attribute(node, "training_mode", 0) != 0) return std::nullopt;
  const auto scale = constant_floats(index, node, 1), shift = constant_floats(index, node, 2);
  const auto mean = constant_floats(index, node, 3), variance = constant_floats(index, node, 4);
  if (!scale || !shift || !mean || !variance) return std::nullopt;
  BatchNorm bn{*scale, *shift, *mean, *variance};
  if (const auto* epsilon = find_attribute(node, "epsilon")) bn.epsilon = epsilon->f();
  return bn;
}

// The BatchNormalization that is the only reader of a convolution's output; null: there is none.
proto::NodeProto* sole_batch_norm(const GraphIndex& index, const proto::NodeProto& conv) {
  const auto& value = conv.output(0);
  const auto& readers = index.consumers(value);
  if (index.is_output(value) || readers.size() != 1) return nullptr;
  auto* bn = readers.front();
  const bool fits = bn->op_type() == "BatchNormalization" && is_standard(*bn) && bn->input(0) == value;
  return fits ? bn : nullptr;
}

void scale_filters(std::vector<float>& weights, const std::vector<double>& factors) {
  const std::size_t size = weights.size() / factors.size();
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(static_cast<double>(weights[i]) * factors[i / size]);
}

std::vector<double> channel_factors(const BatchNorm& bn) {
  std::vector<double> factors(bn.scale.size());
  for (std::size_t c = 0; c < factors.size(); ++c)
    factors[c] = static_cast<double>(bn.scale[c]) /
                 std::sqrt(static_cast<double>(bn.variance[c]) + static_cast<double>(bn.epsilon));
  return factors;
}

std::vector<float> folded_bias(const BatchNorm& bn, const std::vector<double>& factors,
                               const std::vector<float>& bias) {
  std::vector<float> folded(factors.size());
  for (std::size_t c = 0; c < folded.size(); ++c) {
    const double centred =
        (bias.empty() ? 0.0 : static_cast<double>(bias[c])) - static_cast<double>(bn.mean[c]);
    folded[c] = static_cast<float>(centred * factors[c] + static_cast<double>(bn.shift[c]));
  }
  return folded;
}

// Makes new initializers, because the old ones may have other readers.
bool fold_one(proto::GraphProto& graph, const GraphIndex& index, proto::NodeProto& conv) {
  auto* node = sole_batch_norm(index, conv);
  auto weights = constant_floats(index, conv, 1);
  const auto bn = node && weights ? read_batch_norm(index, *node) : std::nullopt;
  if (!bn) return false;
  const bool has_bias = conv.input_size() > 2 && !conv.input(2).empty();
  const auto bias = has_bias ? constant_floats(index, conv, 2) : std::vector<float>{};
  const Shape shape = shape_of(*index.initializer(conv.input(1)));
  const auto channels = static_cast<std::int64_t>(bn->scale.size());
  if (!bias || shape.empty() || shape[0] != channels) return false;
  const auto factors = channel_factors(*bn);
  scale_filters(*weights, factors);
  const std::string stem = node->output(0);
  *graph.add_initializer() = make_tensor(stem + "_weight", shape, *weights);
  *graph.add_initializer() = make_tensor(stem + "_bias", Shape{channels}, folded_bias(*bn, factors, *bias));
  conv.set_input(1, stem + "_weight");
  while (conv.input_size() < 3) conv.add_input("");
  conv.set_input(2, stem + "_bias");
  conv.set_output(0, stem);
  node->clear_output();  // it has no readers left, so remove_unused removes it
  return true;
}

bool is_live(const proto::NodeProto& node, const std::set<std::string>& wanted) {
  return std::any_of(node.output().begin(), node.output().end(),
                     [&](const auto& o) { return wanted.contains(o); });
}

// Names read inside a node's subgraphs count as read by the node.
void add_reads(const proto::NodeProto& node, std::set<std::string>& wanted) {
  wanted.insert(node.input().begin(), node.input().end());
  wanted.merge(captured_values(node));
}

// Nodes are in topological order, so one pass from the end finds every node that is needed.
std::set<std::string> wanted_values(proto::GraphProto& graph) {
  std::set<std::string> wanted;
  for (const auto& output : graph.output()) wanted.insert(output.name());
  for (int i = graph.node_size() - 1; i >= 0; --i)
    if (is_live(graph.node(i), wanted)) add_reads(graph.node(i), wanted);
  return wanted;
}

std::vector<float> transposed(const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
  std::vector<float> result(values.size());
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      result[static_cast<std::size_t>(c * rows + r)] = values[static_cast<std::size_t>(r * columns + c)];
  return result;
}

// Whether a node hands on its first input unchanged. Dropout trains only when its third input says so.
bool is_copy(const proto::NodeProto& node) {
  if (!is_standard(node)) return false;
  if (node.op_type() == "Identity") return true;
  const bool asked = node.input_size() > 2 && !node.input(2).empty();
  return node.op_type() == "Dropout" && !asked && int_attribute(node, "is_test", 1) != 0;
}

bool swaps_two(const proto::NodeProto& node, const proto::TensorProto& tensor) {
  const auto perm = ints_attribute(node, "perm");
  return tensor.dims_size() == 2 && (perm.empty() || perm == std::vector<std::int64_t>{1, 0});
}

}  // namespace

void constants_to_initializers(proto::ModelProto& model) {
  auto& graph = *model.mutable_graph();
  auto& nodes = *graph.mutable_node();
  std::set<const proto::NodeProto*> gone;
  for (const auto& node : nodes) {
    auto value = constant_value(node);
    if (!value) continue;
    value->set_name(node.output(0));
    *graph.add_initializer() = std::move(*value);
    gone.insert(&node);
  }
  proto::GraphProto kept;
  for (auto& node : nodes)
    if (!gone.contains(&node)) *kept.add_node() = std::move(node);
  nodes.Swap(kept.mutable_node());
  dense_initializers(graph);
  drop_inputs_that_are_initializers(model);
}

int read_past_copies(proto::ModelProto& model) {
  std::map<std::string, std::string> original;  // by the name of its copy
  int moved = 0;
  for (auto& node : *model.mutable_graph()->mutable_node()) {
    for (auto& input : *node.mutable_input()) {
      const auto it = original.find(input);
      if (it == original.end()) continue;
      input = it->second;
      ++moved;
    }
    if (is_copy(node)) original[node.output(0)] = node.input(0);
  }
  remove_unused(model);
  return moved;
}

int fold_transposed_weights(proto::ModelProto& model) {
  auto& graph = *model.mutable_graph();
  const GraphIndex index(graph);
  int folded = 0;
  for (auto& node : *graph.mutable_node()) {
    if (node.op_type() != "Transpose" || !is_standard(node)) continue;
    const auto* tensor = index.initializer(node.input(0));
    const auto values = constant_floats(index, node, 0);
    if (!values || !swaps_two(node, *tensor) || index.is_output(node.output(0))) continue;
    const std::int64_t rows = tensor->dims(0), columns = tensor->dims(1);
    *graph.add_initializer() =
        make_tensor(node.output(0), Shape{columns, rows}, transposed(*values, rows, columns));
    node.clear_output();
    ++folded;
  }
  remove_unused(model);
  return folded;
}

int fold_batch_norm(proto::ModelProto& model) {
  auto& graph = *model.mutable_graph();
  const GraphIndex index(graph);
  int folded = 0;
  for (auto& node : *graph.mutable_node())
    if (node.op_type() == "Conv" && is_standard(node) && fold_one(graph, index, node)) ++folded;
  remove_unused(model);
  return folded;
}

void remove_unused(proto::ModelProto& model) {
  auto& graph = *model.mutable_graph();
  const auto wanted = wanted_values(graph);
  auto& nodes = *graph.mutable_node();
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](const auto& n) { return !is_live(n, wanted); }),
              nodes.end());
  auto& tensors = *graph.mutable_initializer();
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [&](const auto& t) { return !wanted.contains(t.name()); }),
                tensors.end());
  auto& infos = *graph.mutable_value_info();
  infos.erase(
      std::remove_if(infos.begin(), infos.end(), [&](const auto& v) { return !wanted.contains(v.name()); }),
      infos.end());
}

void simplify(proto::ModelProto& model) {
  inline_functions(model);
  constants_to_initializers(model);
  read_past_copies(model);
  fold_batch_norm(model);
  fold_transposed_weights(model);
}

}  // namespace paceline::onnx
