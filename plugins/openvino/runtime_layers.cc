// SPDX-License-Identifier: MIT
#include "openvino/runtime_layers.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace paceline::openvino_plugin {
namespace {

using plugin_support::LayerWork;

std::string note(const ov::Node& node, const char* key) {
  const auto& notes = node.get_rt_info();
  const auto it = notes.find(key);
  return it == notes.end() ? std::string() : it->second.as<std::string>();
}

std::optional<Shape> static_shape(const ov::PartialShape& shape) {
  if (shape.is_dynamic()) return std::nullopt;
  const auto sizes = shape.to_shape();
  return Shape(sizes.begin(), sizes.end());
}

enum class Work { kConvolution, kTransposed, kMatrix };
struct WorkRow {
  std::string_view type;
  Work work;
};
// Layers of the runtime model and operators of the graph that are convolutions or matrix products.
constexpr std::array kWorkRows{
    WorkRow{"Convolution", Work::kConvolution},  WorkRow{"GroupConvolution", Work::kConvolution},
    WorkRow{"Deconvolution", Work::kTransposed}, WorkRow{"ConvolutionBackpropData", Work::kTransposed},
    WorkRow{"FullyConnected", Work::kMatrix},    WorkRow{"MatMul", Work::kMatrix},
};

// Operations of a node whose type has a row; none for other types and open shapes.
std::optional<double> flops_of(const ov::Node& node, std::string_view type) {
  const auto row =
      std::find_if(kWorkRows.begin(), kWorkRows.end(), [&](const WorkRow& r) { return r.type == type; });
  if (row == kWorkRows.end() || node.get_input_size() < 2) return std::nullopt;
  const auto data = static_shape(node.get_input_partial_shape(0));
  const auto weights = static_shape(node.get_input_partial_shape(1));
  const auto output = static_shape(node.get_output_partial_shape(0));
  if (!data || !weights || !output) return std::nullopt;
  switch (row->work) {
    case Work::kConvolution:
      return plugin_support::convolution_flops(*output, *weights);
    case Work::kTransposed:
      return plugin_support::transposed_convolution_flops(*data, *weights);
    case Work::kMatrix:
      return plugin_support::matrix_product_flops(*data, *output);
  }
  return std::nullopt;
}

using FlopsByName = std::map<std::string, double>;

FlopsByName graph_flops(const ov::Model& graph) {
  FlopsByName flops;
  for (const auto& node : graph.get_ops())
    if (const auto count = flops_of(*node, node->get_type_name())) flops[node->get_friendly_name()] = *count;
  return flops;
}

// Adds up the operators fused into a layer of another type, and names it after them: attention, for one,
// becomes a "Subgraph" of a dozen operators.
void add_fused(const ov::Node& node, const FlopsByName& flops, LayerWork& work) {
  std::vector<std::string> products;
  for (const auto& name : split(note(node, "originalLayersNames"), ',')) {
    const auto it = flops.find(name);
    if (it == flops.end()) continue;
    work.layer.flops = work.layer.flops.value_or(0) + it->second;
    products.push_back(name);
  }
  work.operators = static_cast<int>(products.size());
  if (!products.empty()) work.layer.model_layer = plugin_support::layers_of_nodes(products);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kElementTypes{
    {{"f32", "fp32"}, {"f16", "fp16"}, {"f64", "fp64"}, {"i8", "int8"}, {"u8", "int8"}}};

std::string precision_name(const std::string& type) {
  const auto row = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                [&](const auto& pair) { return pair.first == type; });
  return row == kElementTypes.end() ? type : std::string(row->second);
}

using OperatorsByName = std::map<std::string, const ov::Node*>;

OperatorsByName named_operators(const ov::Model& graph) {
  OperatorsByName operators;
  for (const auto& node : graph.get_ops()) operators[node->get_friendly_name()] = node.get();
  return operators;
}

bool is_work(std::string_view type) {
  return std::any_of(kWorkRows.begin(), kWorkRows.end(), [&](const WorkRow& r) { return r.type == type; });
}

// The nearest convolution or matrix product that feeds an operator; null where none is near.
const ov::Node* work_behind(const ov::Node* node) {
  constexpr int kFurthest = 6;  // operators that may become one layer
  std::vector<const ov::Node*> level{node};
  for (int depth = 0; depth < kFurthest && !level.empty(); ++depth) {
    std::vector<const ov::Node*> next;
    for (const auto* at : level) {
      if (is_work(at->get_type_name())) return at;
      for (std::size_t i = 0; i < at->get_input_size(); ++i) next.push_back(at->get_input_node_ptr(i));
    }
    level = std::move(next);
  }
  return nullptr;
}

// OpenVINO names a quantised layer after the file's node with this suffix.
std::string without_suffix(const std::string& name) {
  constexpr std::string_view kSuffix = "/WithoutBiases";
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

// A convolution fused with what follows loses its own name: it is the one behind the operators in the name.
std::string model_layer(const ov::Node& node, const std::string& type, const OperatorsByName& operators) {
  auto names = split(note(node, "originalLayersNames"), ',');
  for (auto& name : names) name = without_suffix(name);
  if (is_work(type))
    for (const auto& name : names) {
      const auto found = operators.find(name);
      const auto* work = found == operators.end() ? nullptr : work_behind(found->second);
      if (work) return plugin_support::layer_of_node(work->get_friendly_name());
    }
  return plugin_support::layers_of_nodes(names);
}

LayerWork work_of(const ov::Node& node, const FlopsByName& flops, const OperatorsByName& operators) {
  const auto type = note(node, "layerType");
  LayerWork work{{node.get_friendly_name(), type, precision_name(note(node, "runtimePrecision")), {}, {}}, 0};
  work.layer.model_layer = model_layer(node, type, operators);
  if (const auto micros = parse_double(note(node, "execTimeMcs"))) work.layer.time_ns = *micros * 1e3;
  work.layer.flops = flops_of(node, type);
  if (work.layer.flops)
    work.operators = 1;
  else
    add_fused(node, flops, work);
  return work;
}

// Constants, inputs and outputs of the model are not executed.
bool is_executed(const ov::Node& node) {
  constexpr std::array<std::string_view, 3> kIdle{"Const", "Input", "Output"};
  return std::find(kIdle.begin(), kIdle.end(), note(node, "layerType")) == kIdle.end();
}

}  // namespace

std::vector<LayerWork> runtime_layers(const ov::Model& runtime, const ov::Model& graph) {
  const auto flops = graph_flops(graph);
  const auto operators = named_operators(graph);
  std::vector<LayerWork> layers;
  for (const auto& node : runtime.get_ordered_ops())
    if (is_executed(*node)) layers.push_back(work_of(*node, flops, operators));
  return layers;
}

}  // namespace paceline::openvino_plugin
