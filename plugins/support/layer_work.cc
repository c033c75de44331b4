// SPDX-License-Identifier: MIT
#include "support/layer_work.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace paceline::plugin_support {
namespace {

double product(std::span<const std::int64_t> sizes) {
  double result = 1;
  for (const auto size : sizes) result *= static_cast<double>(size);
  return result;
}

double last_two(const Shape& shape) {
  return product(std::span(shape).last(std::min<std::size_t>(shape.size(), 2)));
}

}  // namespace

double convolution_flops(const Shape& output, const Shape& weights) {
  const std::size_t outer = weights.size() > output.size() ? 2 : 1;
  return weights.size() < outer ? 0 : 2 * product(output) * product(std::span(weights).subspan(outer));
}

double transposed_convolution_flops(const Shape& input, const Shape& weights) {
  return weights.empty() ? 0 : 2 * product(input) * product(std::span(weights).subspan(1));
}

double matrix_product_flops(const Shape& a, const Shape& output) {
  if (a.empty()) return 0;
  const double rows = a.size() < 2 || output.size() < 2 ? 1 : static_cast<double>(output[output.size() - 2]);
  return rows == 0 ? 0 : 2 * product(output) * last_two(a) / rows;
}

std::string layer_of_node(std::string_view node) {
  if (const auto colon = node.rfind(':');
      colon != std::string_view::npos &&
      node.find_first_not_of("0123456789", colon + 1) == std::string_view::npos)
    node = node.substr(0, colon);
  const auto slash = node.find('/');
  const bool ours =
      slash != std::string_view::npos && slash > 0 && node.find('/', slash + 1) == std::string_view::npos;
  return std::string(ours ? node.substr(0, slash) : node);
}

std::string layers_of_nodes(const std::vector<std::string>& nodes) {
  std::vector<std::string> layers;
  for (const auto& node : nodes) {
    const auto layer = layer_of_node(node);
    if (!layer.empty() && std::find(layers.begin(), layers.end(), layer) == layers.end())
      layers.push_back(layer);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(layers.size(), 3); ++i)
    text += (text.empty() ? "" : " ") + layers[i];
  return layers.size() > 3 ? text + " …" : text;
}

plugin::ReadBack read_back_of(std::vector<LayerWork> layers, std::string source) {
  plugin::ReadBack result;
  result.source = std::move(source);
  std::map<std::pair<std::string, std::string>, plugin::PrecisionShare> shares;
  double total = 0;
  for (auto& [layer, operators] : layers) {
    if (layer.flops) {
      auto& share = shares[{layer.precision, layer.weights}];
      share.precision = layer.precision;
      share.weights = layer.weights;
      share.flops_share += *layer.flops;
      share.operators += operators;
      total += *layer.flops;
    }
    result.layers.push_back(std::move(layer));
  }
  if (total <= 0) return result;
  result.flops = total;
  for (auto& [types, share] : shares) {
    share.flops_share /= total;
    result.precisions.push_back(share);
  }
  return result;
}

}  // namespace paceline::plugin_support
