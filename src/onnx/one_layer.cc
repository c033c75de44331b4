// SPDX-License-Identifier: MIT
#include "onnx/one_layer.h"

#include <algorithm>
#include <array>
#include <cfloat>
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

// Operators all of whose floating inputs may move.
constexpr std::array<std::string_view, 9> kArithmetic{"Add",
                                                      "Sub",
                                                      "Mul",
                                                      "Div",
                                                      "Conv",
                                                      "Gemm",
                                                      "BatchNormalization",
                                                      "LayerNormalization",
                                                      "InstanceNormalization"};

constexpr double kMask = 1e30;

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

bool is_float(const proto::TensorProto& tensor) {
  const auto dtype = dtype_of(tensor.data_type());
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

std::vector<proto::TensorProto*> weights_of(const proto::NodeProto& node, const Constants& constants) {
  std::vector<proto::TensorProto*> found;
  const auto* row = std::ranges::find(kWeighted, std::string_view(node.op_type()), &WeightInputs::op);
  if (row == kWeighted.end()) return found;
  for (int i = row->first; i < std::min(row->first + row->count, node.input_size()); ++i)
    if (const auto it = constants.find(node.input(i)); it != constants.end())
      if (is_float(*it->second)) found.push_back(it->second);
  return found;
}

// Changes every value in the precision that it is stored in.
template <typename Change>
void change_values(proto::TensorProto& tensor, const Change& change) {
  const auto changed = [&](auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = change(values[i], i);
    tensor.clear_float_data();
    tensor.clear_double_data();
    tensor.set_raw_data(values.data(), values.size() * sizeof(values[0]));
  };
  if (dtype_of(tensor.data_type()) == DType::kFloat64)
    changed(doubles_of(tensor));
  else
    changed(floats_of(tensor));
}

float rounded(float value) {
  return bfloat16_to_float(float_to_bfloat16(value));
}

bool loses_in_bfloat16(const proto::TensorProto& tensor) {
  const auto values = floats_of(tensor);
  return std::ranges::any_of(values, [](float v) { return rounded(v) != v; });
}

float moved(float value, bool up) {
  return std::nextafter(value, up ? HUGE_VALF : -HUGE_VALF);
}

double moved(double value, bool up) {
  return value * (1 + (up ? 0x1p-24 : -0x1p-24));
}

void move(proto::TensorProto& tensor, std::uint64_t seed) {
  const CounterRng rng(seed, static_cast<std::uint64_t>(element_count(shape_of(tensor))));
  change_values(tensor, [&](auto value, std::size_t i) {
    const bool stays = value == 0 || !(std::abs(value) < kMask);
    return stays ? value : moved(value, (rng.bits(i) & 1) != 0);
  });
}

// Constants whose small change stands for a right engine's rounding.
std::vector<proto::TensorProto*> movable(const proto::NodeProto& node, const Constants& constants) {
  auto found = weights_of(node, constants);
  if (!is_standard(node) ||
      std::ranges::find(kArithmetic, std::string_view(node.op_type())) == kArithmetic.end())
    return found;
  for (const auto& input : node.input())
    if (const auto it = constants.find(input); it != constants.end() && is_float(*it->second))
      found.push_back(it->second);
  return found;
}

// Outputs of sums with a constant, and the constant's type.
using Sums = std::map<std::string, DType>;

Sums sums_with_constants(const proto::GraphProto& graph, const Constants& constants) {
  Sums sums;
  for (const auto& node : graph.node()) {
    if (!is_standard(node) || (node.op_type() != "Add" && node.op_type() != "Sub")) continue;
    for (const auto& input : node.input())
      if (const auto it = constants.find(input); it != constants.end() && is_float(*it->second))
        sums[node.output(0)] = *dtype_of(it->second->data_type());
  }
  return sums;
}

// A large summand that is taken away again leaves the rounding of the sum: no move of a weight shows it.
void scale_by_a_unit(proto::GraphProto& graph, const Sums& sums) {
  google::protobuf::RepeatedPtrField<proto::NodeProto> nodes;
  nodes.Swap(graph.mutable_node());
  for (auto& node : nodes) {
    const auto sum = node.output_size() == 1 ? sums.find(node.output(0)) : sums.end();
    if (sum != sums.end()) node.set_output(0, sum->first + "/exact");
    *graph.add_node() = node;
    if (sum == sums.end()) continue;
    const std::string factor = sum->first + "/unit";
    const float narrow = 1 + FLT_EPSILON;
    const double wide = narrow;
    const bool is_narrow = sum->second == DType::kFloat32;
    *graph.add_initializer() =
        make_tensor(factor, sum->second, {}, is_narrow ? static_cast<const void*>(&narrow) : &wide);
    add_node(graph, "Mul", sum->first + "/moved", std::array{node.output(0), factor}, std::array{sum->first});
  }
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
  for (auto* tensor : weights_of(graph.node(layer.node), constants_of(graph)))
    change_values(*tensor, [](auto value, std::size_t) -> decltype(value) {
      return rounded(static_cast<float>(value));
    });
}

void move_all_weights(proto::ModelProto& model, std::uint64_t seed) {
  auto& graph = *model.mutable_graph();
  const auto constants = constants_of(graph);
  std::set<proto::TensorProto*> tensors;  // one may belong to several layers
  for (const auto& node : graph.node())
    for (auto* tensor : movable(node, constants)) tensors.insert(tensor);
  const auto sums = sums_with_constants(graph, constants);
  for (auto* tensor : tensors) move(*tensor, seed);
  scale_by_a_unit(graph, sums);
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
