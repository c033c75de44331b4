// SPDX-License-Identifier: MIT
#include "analysis/difference/layer_parts.h"

#include <algorithm>

namespace paceline::analysis::difference {
namespace {

constexpr const char* kOneTime =
    "its layers have one time each, so that their spread is not known; measure it again with --layer-profile";

// The median latency of each process, which verdicts are about, or its mean where it has no median: on a
// restless machine means differ more between processes than what is to be explained.
std::vector<double> process_times(const result::CaseResult& one) {
  std::vector<double> times;
  for (const auto& repetition : one.repetitions)
    if (const auto& ns = repetition.p50_ns ? repetition.p50_ns : repetition.mean_ns) times.push_back(*ns);
  return times;
}

// Takes the times of layers that some profile lacks: they would count for another profile.
void keep_complete(std::vector<TimedPart>& parts) {
  std::size_t most = 0;
  for (const auto& part : parts) most = std::max(most, part.times_ns.size());
  for (auto& part : parts)
    if (part.times_ns.size() < most) part.times_ns.clear();
}

// Sum of all layers in each profile.
std::vector<double> sums_of(const std::vector<TimedPart>& parts) {
  std::vector<double> sums;
  for (const auto& part : parts) {
    if (part.times_ns.empty()) continue;
    sums.resize(part.times_ns.size());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part.times_ns[i];
  }
  return sums;
}

}  // namespace

TimedParts layer_parts(const result::CaseResult& one, const std::vector<result::LayerRow>& layers) {
  TimedParts side{.unit_words = "inference"};
  for (const auto& row : layers)
    side.parts.push_back(
        {.is = {row.type, row.name, row.model_layer, row.precision}, .times_ns = row.times_ns});
  keep_complete(side.parts);
  const bool timed = std::ranges::any_of(layers, [](const auto& row) { return !row.times_ns.empty(); });
  if (!timed) side.missing = layers.empty() ? "there are no layers" : kOneTime;
  side.total_ns = process_times(one);
  if (side.total_ns.size() >= kFewestTimes && !one.load()) return side;
  side.total_ns = sums_of(side.parts);
  side.unit_words = "profiled inference";
  return side;
}

}  // namespace paceline::analysis::difference
