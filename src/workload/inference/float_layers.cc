// SPDX-License-Identifier: MIT
#include "workload/inference/float_layers.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/model_content.h"
#include "base/text.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "onnx/simplify.h"

namespace paceline::workload {
namespace {

constexpr std::array<std::string_view, 3> kProducts{"Conv", "Gemm", "MatMul"};

// The operator whose output stands behind a value, past operators that only move values.
const onnx::proto::NodeProto* source_of(const onnx::GraphIndex& index, const std::string& value) {
  constexpr std::array<std::string_view, 5> kMoving{"Transpose", "Reshape", "Flatten", "Squeeze",
                                                    "Unsqueeze"};
  const auto* node = index.producer(value);
  while (node && std::ranges::find(kMoving, node->op_type()) != kMoving.end())
    node = index.producer(node->input(0));
  return node;
}

bool is_dequantised(const onnx::GraphIndex& index, const std::string& value) {
  const auto* node = source_of(index, value);
  return node && node->op_type() == "DequantizeLinear";
}

bool is_constant(const onnx::GraphIndex& index, const std::string& value) {
  const auto* node = index.producer(value);
  if (!node) return index.initializer(value) != nullptr;
  return std::ranges::all_of(node->input(),
                             [&](const auto& i) { return i.empty() || is_constant(index, i); });
}

bool two_activations(const onnx::GraphIndex& index, const onnx::proto::NodeProto& node) {
  return node.op_type() == "MatMul" && !is_constant(index, node.input(0)) &&
         !is_constant(index, node.input(1));
}

bool weights_on_the_left(const onnx::GraphIndex& index, const onnx::proto::NodeProto& node) {
  return node.op_type() == "MatMul" && is_constant(index, node.input(0)) &&
         !is_constant(index, node.input(1));
}

bool computed_weights(const onnx::GraphIndex& index, const onnx::proto::NodeProto& node) {
  return !is_constant(index, node.input(1));
}

bool left_in_float(const onnx::GraphIndex& index, const onnx::proto::NodeProto& node) {
  return !is_dequantised(index, node.input(0)) || !is_dequantised(index, node.input(1));
}

bool signed_activations(const onnx::GraphIndex& index, const onnx::proto::NodeProto& node) {
  const auto* dequantize = source_of(index, node.input(0));
  if (dequantize->input_size() < 3) return false;
  const auto* zero = index.initializer(dequantize->input(2));
  return zero && zero->data_type() == onnx::proto::TensorProto::INT8;
}

// A convolution whose result, or that of the Relu or Clip after it, is not quantised.
bool open_result(const onnx::GraphIndex& index, const onnx::proto::NodeProto& node) {
  if (node.op_type() != "Conv") return false;
  const auto* last = &node;
  while (index.consumers(last->output(0)).size() == 1) {
    const auto* reader = index.consumers(last->output(0)).front();
    if (reader->op_type() == "QuantizeLinear") return false;
    if (reader->op_type() != "Relu" && reader->op_type() != "Clip") break;
    last = reader;
  }
  return true;
}

bool always(const onnx::GraphIndex&, const onnx::proto::NodeProto&) {
  return true;
}

// Why a layer of a quantised file runs in float; the first row that holds decides.
struct FloatReason {
  std::string_view engine;  // empty: any
  bool (*holds)(const onnx::GraphIndex& index, const onnx::proto::NodeProto& node);
  std::string_view reason, advice;
};
constexpr std::array kRows{
    FloatReason{"", two_activations,
                "both sides are activations, which stay in float because 8 bits lose a softmax",
                "Such products stay in float; with shorter sequences their share is smaller."},
    FloatReason{"", weights_on_the_left, "the weights are the left factor of the product",
                "Write the product with its weights on the right: transpose both sides."},
    FloatReason{"", computed_weights, "the weights are computed in the model",
                "Export the model with its weights as constants."},
    FloatReason{
        "", left_in_float, "the file does not quantise them",
        "Take them out of quantisation.exclude, or quantise the float file with: paceline export --precision "
        "int8."},
    FloatReason{"onnxruntime", signed_activations,
                "the activations are int8, which ONNX Runtime multiplies in float on x86",
                "Quantise the float file with --quantisation.activations uint8."},
    FloatReason{"onnxruntime", open_result,
                "their output is not quantised, which ONNX Runtime requires for a convolution",
                "OpenVINO does not need this: --engine openvino."},
    FloatReason{"", always, "the engine has no 8-bit form for them here",
                "Try the other engine: --engine onnxruntime,openvino."},
};

// The nodes of a file by the names that engines give to layers.
class Nodes {
 public:
  explicit Nodes(onnx::proto::ModelProto& model) : index_(*model.mutable_graph()) {
    for (const auto& node : model.graph().node()) {
      if (std::ranges::find(kProducts, node.op_type()) == kProducts.end()) continue;
      const auto name = onnx::layer_name(node);
      nodes_.emplace(name, &node);
      nodes_.emplace(name.substr(0, name.find('/')), &node);  // a layer of our own exporter
    }
  }
  [[nodiscard]] const FloatReason* row_of(const std::string& layer, const std::string& engine) const {
    const auto* node = find(layer);
    if (!node) return nullptr;
    return &*std::ranges::find_if(kRows, [&](const FloatReason& row) {
      return (row.engine.empty() || row.engine == engine) && row.holds(index_, *node);
    });
  }

 private:
  // A fused layer has several names.
  [[nodiscard]] const onnx::proto::NodeProto* find(const std::string& layer) const {
    if (const auto it = nodes_.find(layer); it != nodes_.end()) return it->second;
    for (const auto& word : split(layer, ' '))
      if (const auto it = nodes_.find(word); it != nodes_.end()) return it->second;
    return nullptr;
  }
  onnx::GraphIndex index_;
  std::map<std::string, const onnx::proto::NodeProto*> nodes_;
};

bool is_convolution(const plugin::Layer& layer) {
  return layer.type.find("onv") != std::string::npos;
}

std::string kind_of(const plugin::Layer& layer) {
  return is_convolution(layer) ? "convolution" : "matrix product";
}

// The precision that layers should have: int8 where a file brings it, else the one asked for.
std::string wanted_precision(const plugin::ReadBack& read, std::string asked) {
  const bool integers =
      std::ranges::any_of(read.layers, [](const auto& l) { return l.flops && l.precision == "int8"; });
  if (integers) return "int8";
  if (asked.starts_with("amp_")) asked.erase(0, 4);
  return asked == "bf16" || asked == "fp16" || asked == "int8" ? asked : "";
}

// Groups the work of an engine that counts operators but does not name its layers.
std::vector<result::FloatLayers> counted_operators(const plugin::ReadBack& read, const std::string& wanted) {
  std::vector<result::FloatLayers> groups;
  std::int64_t all = 0;
  for (const auto& share : read.precisions) all += share.operators;
  for (const auto& share : read.precisions)
    if (share.precision != wanted)
      groups.push_back({"operator", share.precision, share.operators, all, share.flops_share, {}, {}, {}});
  return groups;
}

}  // namespace

Number convolution_share(const plugin::ReadBack& read) {
  double all = 0, convolutions = 0;
  for (const auto& layer : read.layers) {
    all += layer.flops.value_or(0);
    if (is_convolution(layer)) convolutions += layer.flops.value_or(0);
  }
  if (all <= 0) return Number::missing("this engine does not report it");
  return convolutions / all;
}

std::vector<result::FloatLayers> float_layers(const plugin::ReadBack& read, const std::string& asked,
                                              onnx::proto::ModelProto* model, const std::string& engine) {
  const auto wanted = wanted_precision(read, asked);
  if (wanted.empty()) return {};
  if (std::ranges::all_of(read.layers, &std::string::empty, &plugin::Layer::name))
    return counted_operators(read, wanted);
  std::optional<Nodes> nodes;
  if (model && wanted == "int8") nodes.emplace(*model);
  std::map<std::string, std::int64_t> all;
  std::map<std::tuple<std::string, std::string, const FloatReason*>, result::FloatLayers> found;
  double total = 0;
  for (const auto& layer : read.layers) {
    if (!layer.flops || *layer.flops <= 0) continue;
    total += *layer.flops;
    ++all[kind_of(layer)];
    if (layer.precision == wanted || layer.precision.empty()) continue;
    const auto& name = layer.model_layer.empty() ? layer.name : layer.model_layer;
    const auto* row = nodes ? nodes->row_of(name, engine) : nullptr;
    auto& group = found[{kind_of(layer), layer.precision, row}];
    if (group.layers++ == 0) group.first = name;
    group.flops_share += *layer.flops;
  }
  std::vector<result::FloatLayers> groups;
  for (auto& [key, group] : found) {
    const auto& [kind, precision, row] = key;
    group.kind = kind;
    group.precision = precision;
    group.of = all.at(kind);
    group.flops_share /= total;
    if (row) group.reason = row->reason, group.advice = row->advice;
    groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(groups, std::ranges::greater{}, &result::FloatLayers::flops_share);
  return groups;
}

std::vector<result::FloatLayers> float_layers(const plugin::ReadBack& read, const std::string& asked,
                                              const std::string& file, const std::string& engine) {
  auto groups = float_layers(read, asked, nullptr, engine);
  if (groups.empty() || model_suffix(file) != ".onnx") return groups;
  auto model = onnx::read_model(file);
  onnx::constants_to_initializers(model);
  return float_layers(read, asked, &model, engine);
}

}  // namespace paceline::workload
