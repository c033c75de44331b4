// SPDX-License-Identifier: MIT
#include "onnx/quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "onnx/graph.h"
#include "onnx/products.h"
#include "onnx/raise_opset.h"
#include "onnx/simplify.h"

namespace paceline::onnx {
namespace {

using Names = std::vector<std::string>;

constexpr int kBits = 8, kReducedBits = 7;
constexpr int kWeightInput = 1;

std::string dequantised(const std::string& value) {
  return value + "/dequantized";
}

class Rewriter {
 public:
  Rewriter(proto::ModelProto& model, const Ranges& ranges, const QuantiseOptions& options,
           Placement placement)
      : graph_(*model.mutable_graph()),
        ranges_(ranges),
        options_(options),
        placement_(std::move(placement)),
        per_channel_(opset_version(model) >= kPerChannelOpset) {
    for (const auto& layer : placement_.layers) layer_at_[layer.node] = &layer;
    for (const auto& tensor : graph_.initializer()) initializers_[tensor.name()] = &tensor;
    for (const auto& node : graph_.node())
      if (node.op_type() == "Clip" && is_standard(node)) clipped_.insert(node.output(0));
  }

  QuantiseReport rewrite();

 private:
  [[nodiscard]] ScaleAndZero scale_of(const std::string& value, const proto::NodeProto& reader) const;
  void rewrite_node(int n, proto::NodeProto node);
  void quantise_value(const std::string& value, const proto::NodeProto& reader);
  void quantise_weights(proto::NodeProto& node, const QuantisedLayer& layer);
  [[nodiscard]] ChannelWeights integers_of(const proto::TensorProto& tensor, const QuantisedLayer& layer,
                                           const std::vector<float>& smallest_scales) const;
  void quantise_bias_of(proto::NodeProto& node, const std::vector<float>& weight_scales, float input_scale);
  [[nodiscard]] std::vector<float> bias_of(const proto::NodeProto& node, std::size_t channels) const;
  void add_pair(const std::string& value, const ScaleAndZero& scale);
  void add_dequantize(const std::string& stem, const std::string& output, int axis);
  [[nodiscard]] int weight_bits() const { return options_.reduce_range ? kReducedBits : kBits; }
  [[nodiscard]] bool integer_bias() const { return options_.activations == Activations::kUnsigned; }
  proto::NodeProto& append(const char* op, const std::string& name, const Names& inputs) {
    return add_node(nodes_, op, name, inputs, Names{name});
  }

  proto::GraphProto& graph_;
  const Ranges& ranges_;
  const QuantiseOptions& options_;
  Placement placement_;
  bool per_channel_;
  std::map<int, const QuantisedLayer*> layer_at_;
  std::map<std::string, const proto::TensorProto*> initializers_;  // those of the float model
  std::set<std::string> clipped_;  // made by a Clip, which engines drop where no integer lies beyond it
  std::set<std::string> done_;
  proto::GraphProto nodes_;  // the new nodes in order
};

ScaleAndZero Rewriter::scale_of(const std::string& value, const proto::NodeProto& reader) const {
  const auto& source = placement_.range_of.at(value);
  const auto it = ranges_.find(source);
  if (it == ranges_.end())
    throw Error(ErrorCode::kData,
                fmt::format("layer '{}' reads '{}', which has no calibrated range; calibrate this very model",
                            layer_name(reader), source));
  const auto scale = activation_scale(it->second, options_.activations);
  return integer_bias() && clipped_.contains(source) ? scale_inside(it->second, scale) : scale;
}

void Rewriter::add_dequantize(const std::string& stem, const std::string& output, int axis) {
  auto& node =
      append("DequantizeLinear", output, {stem + "/quantized", stem + "/scale", stem + "/zero_point"});
  if (axis >= 0) set_attribute(node, "axis", static_cast<std::int64_t>(axis));
}

void Rewriter::add_pair(const std::string& value, const ScaleAndZero& scale) {
  const bool is_unsigned = options_.activations == Activations::kUnsigned;
  const auto zero = static_cast<std::uint8_t>(scale.zero_point);
  *graph_.add_initializer() = make_tensor(value + "/scale", Shape{}, std::span<const float>(&scale.scale, 1));
  *graph_.add_initializer() =
      make_tensor(value + "/zero_point", is_unsigned ? DType::kUInt8 : DType::kInt8, Shape{}, &zero);
  append("QuantizeLinear", value + "/quantized", {value, value + "/scale", value + "/zero_point"});
  add_dequantize(value, dequantised(value), -1);
}

void Rewriter::quantise_value(const std::string& value, const proto::NodeProto& reader) {
  if (done_.insert(value).second) add_pair(value, scale_of(value, reader));
}

// Zeros where a bias cannot become integers of the usual scale, so that it limits nothing.
std::vector<float> Rewriter::bias_of(const proto::NodeProto& node, std::size_t channels) const {
  if (!integer_bias() || node.op_type() == "MatMul" || node.input_size() < 3) return {};
  const auto it = initializers_.find(node.input(2));
  const auto* beta = find_attribute(node, "beta");
  const auto* alpha = find_attribute(node, "alpha");
  const bool plain = (!beta || beta->f() == 1) && (!alpha || alpha->f() == 1);
  if (it == initializers_.end() || it->second->data_type() != proto::TensorProto::FLOAT || !plain) return {};
  auto bias = floats_of(*it->second);
  return it->second->dims_size() == 1 && bias.size() == channels ? bias : std::vector<float>{};
}

std::vector<float> finite_weights(const proto::TensorProto& tensor) {
  auto weights = floats_of(tensor);
  if (!std::all_of(weights.begin(), weights.end(), [](float w) { return std::isfinite(w); }))
    throw Error(
        ErrorCode::kData,
        fmt::format("weights '{}' contain NaN or infinity, which no integer stands for; check the model",
                    tensor.name()));
  return weights;
}

// With one scale per channel, or one for all.
ChannelWeights Rewriter::integers_of(const proto::TensorProto& tensor, const QuantisedLayer& layer,
                                     const std::vector<float>& smallest_scales) const {
  const auto weights = finite_weights(tensor);
  if (per_channel_)
    return quantise_channels(weights, shape_of(tensor), layer.weight_axis, weight_bits(), smallest_scales);
  std::vector<float> smallest;
  if (!smallest_scales.empty())
    smallest.push_back(*std::max_element(smallest_scales.begin(), smallest_scales.end()));
  return quantise_channels(weights, {1, static_cast<std::int64_t>(weights.size())}, 0, weight_bits(),
                           smallest);
}

// A weight that several layers share is quantised once per way in which they use it.
void Rewriter::quantise_weights(proto::NodeProto& node, const QuantisedLayer& layer) {
  const std::string weight = node.input(kWeightInput);
  const auto& tensor = *initializers_.at(weight);
  const Shape shape = shape_of(tensor);
  const auto channels = shape.at(static_cast<std::size_t>(layer.weight_axis));
  const float input_scale = scale_of(node.input(0), node).scale;
  const auto bias = bias_of(node, static_cast<std::size_t>(channels));
  const std::string stem = fmt::format("{}/{}", node.output(0), weight);
  const auto integers = integers_of(tensor, layer, smallest_weight_scales(bias, input_scale));
  const std::vector<std::int8_t> zeros(integers.scales.size());
  const Shape scales = per_channel_ ? Shape{channels} : Shape{};
  *graph_.add_initializer() = make_tensor(stem + "/quantized", DType::kInt8, shape, integers.values.data());
  *graph_.add_initializer() = make_tensor(stem + "/scale", scales, integers.scales);
  *graph_.add_initializer() = make_tensor(stem + "/zero_point", DType::kInt8, scales, zeros.data());
  add_dequantize(stem, dequantised(stem), per_channel_ ? layer.weight_axis : -1);
  node.set_input(kWeightInput, dequantised(stem));
  if (!bias.empty()) quantise_bias_of(node, integers.scales, input_scale);
}

void Rewriter::quantise_bias_of(proto::NodeProto& node, const std::vector<float>& weight_scales,
                                float input_scale) {
  const auto bias = floats_of(*initializers_.at(node.input(2)));
  std::vector<float> scales = weight_scales;
  for (auto& scale : scales) scale *= input_scale;
  const Shape shape{static_cast<std::int64_t>(bias.size())};
  const Shape scale_shape = per_channel_ ? shape : Shape{};
  const std::vector<std::int32_t> zeros(scales.size());
  if (!per_channel_) scales.resize(bias.size(), scales.front());
  const auto integers = quantise_bias(bias, scales);
  scales.resize(zeros.size());
  const std::string stem = fmt::format("{}/{}", node.output(0), node.input(2));
  *graph_.add_initializer() = make_tensor(stem + "/quantized", DType::kInt32, shape, integers.data());
  *graph_.add_initializer() = make_tensor(stem + "/scale", scale_shape, scales);
  *graph_.add_initializer() = make_tensor(stem + "/zero_point", DType::kInt32, scale_shape, zeros.data());
  add_dequantize(stem, dequantised(stem), per_channel_ ? 0 : -1);
  node.set_input(2, dequantised(stem));
}

void Rewriter::rewrite_node(int n, proto::NodeProto node) {
  const auto reads = placement_.reads.find(n);
  if (reads != placement_.reads.end())
    for (const auto& value : reads->second) quantise_value(value, node);
  const auto layer = layer_at_.find(n);
  if (layer != layer_at_.end()) quantise_weights(node, *layer->second);
  if (reads != placement_.reads.end())
    for (auto& input : *node.mutable_input())
      if (reads->second.contains(input)) input = dequantised(input);
  *nodes_.add_node() = std::move(node);
}

QuantiseReport Rewriter::rewrite() {
  for (int n = 0; n < graph_.node_size(); ++n) rewrite_node(n, std::move(*graph_.mutable_node(n)));
  graph_.mutable_node()->Swap(nodes_.mutable_node());
  QuantiseReport report{placement_.layers, placement_.float_layers, weight_bits(), per_channel_, {}, {}};
  report.activations = integer_bias() ? "uint8" : "int8";
  report.bias = integer_bias() ? "int32" : "float32";
  return report;
}

}  // namespace

QuantiseReport quantise(proto::ModelProto& model, const Ranges& ranges, const QuantiseOptions& options) {
  auto placement = place(model, options.placement);
  if (options.activations == Activations::kUnsigned) {
    settle_products(model, placement, options.ranks);
    placement = place(model, options.placement);
  }
  auto report = Rewriter(model, ranges, options, std::move(placement)).rewrite();
  remove_unused(model);
  auto& note = *model.add_metadata_props();
  note.set_key("paceline.quantisation");
  note.set_value(fmt::format("{} layers, {}-bit weights per {}, {} activations, {} bias",
                             report.layers.size(), report.weight_bits,
                             report.per_channel ? "channel" : "tensor", report.activations, report.bias));
  return report;
}

}  // namespace paceline::onnx
