// SPDX-License-Identifier: MIT
#include "tensorrt/inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/json.h"
#include "base/lower_case.h"

namespace paceline::tensorrt_plugin {
namespace {

using nlohmann::json;
using plugin_support::LayerWork;

struct TypeWord {
  std::string_view word, precision;
};
// Parts of "Half", "Row major linear FP32", "Thirty-two wide channel vectorized row major Int8 format."; the
// first match wins.
constexpr std::array kTypeWords{
    TypeWord{"BFloat16", "bf16"}, TypeWord{"BF16", "bf16"}, TypeWord{"FP16", "fp16"},
    TypeWord{"Half", "fp16"},     TypeWord{"FP8", "fp8"},   TypeWord{"FP4", "fp4"},
    TypeWord{"Int8", "int8"},     TypeWord{"FP32", "fp32"}, TypeWord{"Float", "fp32"}};
constexpr const char* kFormat = "Format/Datatype";

enum class Work { kNone, kConvolution, kTransposed, kMatrix };
struct WorkWord {
  std::string_view word;  // part of "ParameterType" or "LayerType", in lower case
  Work work;
};
constexpr std::array kWorkWords{WorkWord{"deconv", Work::kTransposed}, WorkWord{"conv", Work::kConvolution},
                                WorkWord{"gemm", Work::kMatrix}, WorkWord{"matrixmultiply", Work::kMatrix},
                                WorkWord{"matrix_multiply", Work::kMatrix}};

std::string text_at(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

Shape shape_at(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return {};
  Shape shape;
  for (const auto& size : *it)
    if (size.is_number_integer()) shape.push_back(size.get<std::int64_t>());
  return shape;
}

std::int64_t number_at(const json& object, const char* key, std::int64_t fallback) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? it->get<std::int64_t>() : fallback;
}

// The nth of "Inputs" or "Outputs"; an empty object where there is none.
json tensor_of(const json& layer, const char* list, std::size_t index) {
  const auto it = layer.find(list);
  if (it == layer.end() || !it->is_array() || it->size() <= index || !(*it)[index].is_object())
    return json::object();
  return (*it)[index];
}

std::string precision_of(const json& layer) {
  const auto format = text_at(tensor_of(layer, "Inputs", 0), kFormat);
  const auto row = std::find_if(kTypeWords.begin(), kTypeWords.end(), [&](const TypeWord& type) {
    return format.find(type.word) != std::string::npos;
  });
  if (row == kTypeWords.end()) return "";
  if (row->precision != "fp32") return std::string(row->precision);
  const auto kernel = lower_case(text_at(layer, "TacticName"));
  if (kernel.empty()) return "";
  return kernel.find("tf32") == std::string::npos ? "fp32" : "tf32";
}

Work work_word(const std::string& text) {
  const auto row = std::find_if(kWorkWords.begin(), kWorkWords.end(),
                                [&](const WorkWord& w) { return text.find(w.word) != std::string::npos; });
  return row == kWorkWords.end() ? Work::kNone : row->work;
}

// "ParameterType" says what a layer computes, where it exists: the type of a fused layer names its compiler.
Work work_of(const json& layer) {
  const auto by_parameters = work_word(lower_case(text_at(layer, "ParameterType")));
  return by_parameters != Work::kNone ? by_parameters : work_word(lower_case(text_at(layer, "LayerType")));
}

bool is_known(const Shape& shape) {
  return !shape.empty() && std::all_of(shape.begin(), shape.end(), [](auto size) { return size >= 0; });
}

// [first, second / groups, kernel…], as plugin_support takes weights; empty where the layer does not tell.
Shape weights_of(const json& layer, std::int64_t first, std::int64_t second) {
  Shape weights = shape_at(layer, "Kernel");
  const auto groups = number_at(layer, "Groups", 1);
  if (weights.empty() || first <= 0 || second <= 0 || groups <= 0) return {};
  weights.insert(weights.begin(), {first, second / groups});
  return weights;
}

std::optional<double> flops_of(const json& layer) {
  const auto input = shape_at(tensor_of(layer, "Inputs", 0), "Dimensions");
  const auto output = shape_at(tensor_of(layer, "Outputs", 0), "Dimensions");
  const auto work = work_of(layer);
  if (work == Work::kNone || !is_known(input) || !is_known(output)) return std::nullopt;
  if (work == Work::kMatrix) return plugin_support::matrix_product_flops(input, output);
  if (input.size() < 3) return std::nullopt;
  const auto maps = number_at(layer, "OutMaps", 0);
  const bool transposed = work == Work::kTransposed;
  const auto weights = transposed ? weights_of(layer, input[1], maps) : weights_of(layer, maps, input[1]);
  if (weights.empty()) return std::nullopt;
  return transposed ? plugin_support::transposed_convolution_flops(input, weights)
                    : plugin_support::convolution_flops(output, weights);
}

std::vector<std::string> split_at(const std::string& text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + separator.size()) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

// Nodes of the file in a layer: "[ONNX Layer: conv1/Conv]\x1f[ONNX Layer: relu/Relu]", or without such text
// the parts of its name: "conv1/Conv + relu/Relu".
std::vector<std::string> nodes_of(const json& layer) {
  constexpr std::string_view kBegin = "[ONNX Layer: ";
  if (!layer.contains("Metadata")) return split_at(text_at(layer, "Name"), " + ");
  const auto parts = split_at(text_at(layer, "Metadata"), kBegin);
  std::vector<std::string> nodes;
  for (std::size_t i = 1; i < parts.size(); ++i) nodes.push_back(parts[i].substr(0, parts[i].find(']')));
  return nodes;
}

LayerWork layer_work(const json& layer) {
  if (!layer.is_object())
    throw Error(ErrorCode::kUnsupported,
                "this plan keeps names of layers only, so the precision that ran cannot be told; build it "
                "with paceline build, or with trtexec --profilingVerbosity=detailed");
  LayerWork work{{text_at(layer, "Name"), text_at(layer, "LayerType"), precision_of(layer), {}, {}}, 0};
  work.layer.flops = flops_of(layer);
  work.layer.model_layer = plugin_support::layers_of_nodes(nodes_of(layer));
  work.operators = work.layer.flops ? 1 : 0;
  return work;
}

}  // namespace

std::vector<LayerWork> inspected_layers(const std::string& text) {
  const auto root = json_or_discarded(text);
  const auto list = root.is_object() ? root.find("Layers") : root.end();
  if (!root.is_object() || list == root.end() || !list->is_array())
    throw Error(ErrorCode::kData, "the engine inspector's text has no list of layers");
  std::vector<LayerWork> layers;
  for (const auto& layer : *list) layers.push_back(layer_work(layer));
  return layers;
}

}  // namespace paceline::tensorrt_plugin
