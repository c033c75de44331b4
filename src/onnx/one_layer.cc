// SPDX-License-Identifier: MIT
#include "onnx/one_layer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "base/half.h"
#include "base/random.h"
#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

// The inputs of an operator that hold weights; the first of them is `first`, there are `count`.
struct WeightInputs {
  std::string_view op;
  int first, count;
};
constexpr std::array kWeighted{WeightInputs{"Conv", 1, 1},   WeightInputs{"ConvTranspose", 1, 1},
                               WeightInputs{"MatMul", 0, 2}, WeightInputs{"Gemm", 0, 2},
                               WeightInputs{"LSTM", 1, 2},   WeightInputs{"GRU", 1, 2},
                               WeightInputs{"RNN", 1, 2},    WeightInputs{"Gather", 0, 1},
                               WeightInputs{"Einsum", 0, 2}, WeightInputs{"DequantizeLinear", 1, 1}};

using Constants = std::map<std::string, proto::TensorProto*>;

Constants constants_of(proto::GraphProto& graph) {
  Constants constants;
  for (auto& tensor : *graph.mutable_initializer()) constants[tensor.name()] = &tensor;
  for (auto& node : *graph.mutable_node())
    if (node.op_type() == "Constant" && node.output_size() == 1)
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.name() == "value") constants[node.output(0)] = attribute.mutable_t();
  return constants;
}

std::vector<proto::TensorProto*> weights_of(const proto::NodeProto& node, const Constants& constants) {
  std::vector<proto::TensorProto*> found;
  const auto* row = std::ranges::find(kWeighted, std::string_view(node.op_type()), &WeightInputs::op);
  if (row == kWeighted.end()) return found;
  for (int i = row->first; i < std::min(row->first + row->count, node.input_size()); ++i)
    if (const auto it = constants.find(node.input(i)); it != constants.end())
      if (dtype_of(it->second->data_type()) == DType::kFloat32) found.push_back(it->second);
  return found;
}

void set_floats(proto::TensorProto& tensor, const std::vector<float>& values) {
  tensor.clear_float_data();
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

float rounded(float value) {
  return bfloat16_to_float(float_to_bfloat16(value));
}

bool loses_in_bfloat16(const proto::TensorProto& tensor) {
  const auto values = floats_of(tensor);
  return std::ranges::any_of(values, [](float v) { return rounded(v) != v; });
}

void move(proto::TensorProto& tensor, std::uint64_t seed) {
  auto values = floats_of(tensor);
  const CounterRng rng(seed, values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::nextafter(values[i], rng.bits(i) & 1 ? HUGE_VALF : -HUGE_VALF);
  set_floats(tensor, values);
}

}  // namespace

std::vector<WeightedLayer> layers_towards(proto::ModelProto& model, const std::string& output) {
  auto& graph = *model.mutable_graph();
  const auto constants = constants_of(graph);
  std::set<std::string> needed{output};
  std::vector<WeightedLayer> layers;
  for (int i = graph.node_size(); i-- > 0;) {  // nodes are in topological order
    const auto& node = graph.node(i);
    if (std::ranges::none_of(node.output(), [&](const auto& value) { return needed.contains(value); }))
      continue;
    std::ranges::copy_if(node.input(), std::inserter(needed, needed.end()),
                         [](const auto& input) { return !input.empty(); });
    const auto weights = weights_of(node, constants);
    if (std::ranges::any_of(weights, [](const auto* tensor) { return loses_in_bfloat16(*tensor); }))
      layers.push_back({i, layer_name(node)});
  }
  std::ranges::reverse(layers);
  return layers;
}

void round_to_bfloat16(proto::ModelProto& model, const WeightedLayer& layer) {
  auto& graph = *model.mutable_graph();
  for (auto* tensor : weights_of(graph.node(layer.node), constants_of(graph))) {
    auto values = floats_of(*tensor);
    std::ranges::transform(values, values.begin(), rounded);
    set_floats(*tensor, values);
  }
}

void move_weights(proto::ModelProto& model, const WeightedLayer& layer, std::uint64_t seed) {
  auto& graph = *model.mutable_graph();
  for (auto* tensor : weights_of(graph.node(layer.node), constants_of(graph))) move(*tensor, seed);
}

void move_all_weights(proto::ModelProto& model, std::uint64_t seed) {
  auto& graph = *model.mutable_graph();
  const auto constants = constants_of(graph);
  std::set<proto::TensorProto*> tensors;  // one may belong to several layers
  for (const auto& node : graph.node())
    for (auto* tensor : weights_of(node, constants)) tensors.insert(tensor);
  for (auto* tensor : tensors) move(*tensor, seed);
}

double subnormal_share(const proto::ModelProto& model) {
  double all = 0, tiny = 0;
  for (const auto& tensor : model.graph().initializer()) {
    if (dtype_of(tensor.data_type()) != DType::kFloat32) continue;
    const auto values = floats_of(tensor);
    all += static_cast<double>(values.size());
    tiny += static_cast<double>(
        std::ranges::count_if(values, [](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }));
  }
  return all > 0 ? tiny / all : 0;
}

}  // namespace paceline::onnx
