// SPDX-License-Identifier: MIT
#include "openvino/runtime_layers.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "openvino/layer_arithmetic.h"

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

enum class Work { kConvolution, kTransposed, kMatrix, kAttention };
struct WorkRow {
  std::string_view type;
  Work work;
};
// Layers of the runtime model and operators of the graph that are convolutions or matrix products.
constexpr std::string_view kAttention = "ScaledDotProductAttention";
constexpr std::array kWorkRows{
    WorkRow{"Convolution", Work::kConvolution},  WorkRow{"GroupConvolution", Work::kConvolution},
    WorkRow{"Deconvolution", Work::kTransposed}, WorkRow{"ConvolutionBackpropData", Work::kTransposed},
    WorkRow{"FullyConnected", Work::kMatrix},    WorkRow{"MatMul", Work::kMatrix},
    WorkRow{kAttention, Work::kAttention},
};

// Queries [..., l, e] against keys [..., s, e], and the weights against the values.
double attention_flops(const Shape& queries, const Shape& keys, const Shape& output) {
  if (keys.size() < 2) return 0;
  const auto length = static_cast<double>(keys[keys.size() - 2]);
  return 2 * length * static_cast<double>(element_count(queries) + element_count(output));
}

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
    case Work::kAttention:
      return attention_flops(*data, *weights, *output);
  }
  return std::nullopt;
}

bool is_work(std::string_view type) {
  return std::any_of(kWorkRows.begin(), kWorkRows.end(), [&](const WorkRow& r) { return r.type == type; });
}

// The nearest operator of a type, this one or one that feeds it; null where none is near.
const ov::Node* nearest(const ov::Node* node, const std::function<bool(std::string_view)>& is_one) {
  constexpr int kFurthest = 6;  // operators that may become one layer
  std::vector<const ov::Node*> level{node};
  for (int depth = 0; depth < kFurthest && !level.empty(); ++depth) {
    std::vector<const ov::Node*> next;
    for (const auto* at : level) {
      if (is_one(at->get_type_name())) return at;
      for (std::size_t i = 0; i < at->get_input_size(); ++i) next.push_back(at->get_input_node_ptr(i));
    }
    level = std::move(next);
  }
  return nullptr;
}

// The names of the file's operators in a layer. OpenVINO names a quantised one with this suffix.
std::vector<std::string> operator_names(const ov::Node& layer) {
  constexpr std::string_view kSuffix = "/WithoutBiases";
  auto names = split(note(layer, "originalLayersNames"), ',');
  for (auto& name : names)
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return names;
}

// The operators of a model by name, and the names that executed layers have.
struct Operators {
  Operators(const ov::Model& runtime, const ov::Model& graph) {
    for (const auto& node : graph.get_ops()) by_name[node->get_friendly_name()] = node.get();
    for (const auto& layer : runtime.get_ops())
      for (auto& name : operator_names(*layer)) executed.insert(std::move(name));
  }
  [[nodiscard]] const ov::Node* find(const std::string& name) const {
    const auto it = by_name.find(name);
    return it == by_name.end() ? nullptr : it->second;
  }
  std::map<std::string, const ov::Node*> by_name;
  std::set<std::string> executed;
};

// In attention the product whose softmax feeds this one, where no layer has its name.
const ov::Node* nameless_scores(const ov::Node& product, const Operators& operators) {
  const auto* softmax = nearest(&product, [](std::string_view type) { return type == "Softmax"; });
  const auto* scores = softmax == nullptr ? nullptr : nearest(softmax, is_work);
  const bool nameless = scores != nullptr && operators.executed.count(scores->get_friendly_name()) == 0;
  return nameless ? scores : nullptr;
}

// Adds up the operators fused into a layer of another type, and names it after them: attention, for one,
// becomes a "Subgraph" of a dozen operators.
void add_fused(const ov::Node& layer, const Operators& operators, LayerWork& work) {
  std::vector<std::string> products;
  const auto add = [&](const ov::Node* node) {
    const auto flops = node == nullptr ? std::nullopt : flops_of(*node, node->get_type_name());
    if (!flops) return;
    work.layer.flops = work.layer.flops.value_or(0) + *flops;
    work.operators += node->get_type_name() == kAttention ? 2 : 1;
    products.push_back(node->get_friendly_name());
  };
  for (const auto& name : operator_names(layer)) {
    const auto* node = operators.find(name);
    if (node == nullptr || !is_work(node->get_type_name())) continue;
    add(nameless_scores(*node, operators));
    add(node);
  }
  if (!products.empty()) work.layer.model_layer = plugin_support::layers_of_nodes(products);
}

// A convolution fused with what follows loses its own name: it is the one behind the operators in the name.
std::string model_layer(const ov::Node& node, const std::string& type, const Operators& operators) {
  const auto names = operator_names(node);
  if (is_work(type))
    for (const auto& name : names) {
      const auto* found = operators.find(name);
      const auto* work = found == nullptr ? nullptr : nearest(found, is_work);
      if (work) return plugin_support::layer_of_node(work->get_friendly_name());
    }
  return plugin_support::layers_of_nodes(names);
}

std::string input_type(const ov::Node& node, std::size_t input) {
  return node.get_input_size() > input ? node.get_input_element_type(input).get_type_name() : std::string();
}

// A fused layer has inputs that are not its products'.
LayerTypes types_of(const ov::Node& node, std::string_view type) {
  LayerTypes types{note(node, "runtimePrecision"), {}, {}};
  if (!is_work(type) || type == kAttention) return types;
  types.activations = input_type(node, 0);
  types.weights = input_type(node, 1);
  return types;
}

LayerWork work_of(const ov::Node& node, const Operators& operators) {
  const auto type = note(node, "layerType");
  const auto [precision, weights] = arithmetic_of(types_of(node, type));
  LayerWork work{{node.get_friendly_name(), type, precision, {}, {}, {}, weights}, 0};
  work.layer.model_layer = model_layer(node, type, operators);
  if (const auto micros = parse_double(note(node, "execTimeMcs"))) work.layer.time_ns = *micros * 1e3;
  if (type != kAttention) work.layer.flops = flops_of(node, type);  // its inputs may include a cache
  if (work.layer.flops)
    work.operators = 1;
  else
    add_fused(node, operators, work);
  return work;
}

// Constants, inputs and outputs of the model are not executed.
bool is_executed(const ov::Node& node) {
  constexpr std::array<std::string_view, 3> kIdle{"Const", "Input", "Output"};
  return std::find(kIdle.begin(), kIdle.end(), note(node, "layerType")) == kIdle.end();
}

}  // namespace

std::vector<LayerWork> runtime_layers(const ov::Model& runtime, const ov::Model& graph) {
  const Operators operators(runtime, graph);
  std::vector<LayerWork> layers;
  for (const auto& node : runtime.get_ordered_ops())
    if (is_executed(*node)) layers.push_back(work_of(*node, operators));
  return layers;
}

}  // namespace paceline::openvino_plugin
