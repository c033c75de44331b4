// SPDX-License-Identifier: MIT
#include "support/layer_medians.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace paceline::plugin_support {
namespace {

using Layers = std::vector<plugin::Layer>;

bool same_layers(const Layers& a, const Layers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const plugin::Layer& x, const plugin::Layer& y) { return x.name == y.name; });
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::vector<plugin::Layer> with_median_times(std::vector<std::vector<plugin::Layer>> inferences) {
  if (inferences.empty()) return {};
  Layers result = inferences.back();
  std::erase_if(inferences, [&](const Layers& layers) { return !same_layers(layers, result); });
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::vector<double> times;
    for (const auto& layers : inferences)
      if (const auto& time = layers[i].time_ns) times.push_back(*time);
    result[i].time_ns = times.empty() ? std::nullopt : std::optional(median(std::move(times)));
  }
  return result;
}

void refuse_other_layers(const std::vector<std::vector<plugin::Layer>>& inferences) {
  for (const auto& one : inferences)
    if (!same_layers(one, inferences.back()))
      throw Error(
          ErrorCode::kUnsupported,
          fmt::format("inferences ran different layers ({} in one, {} in another), so that their times "
                      "have no median",
                      one.size(), inferences.back().size()));
}

}  // namespace paceline::plugin_support
