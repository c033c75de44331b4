// SPDX-License-Identifier: MIT
#include "result/figures/picture_parts.h"

#include <array>
#include <string>
#include <utility>

#include "stats/median.h"
#include "stats/quantile.h"
#include "stats/spread.h"

namespace paceline::result {
namespace {

Number end_of(const std::optional<double>& end, const std::string& reason) {
  if (end) return *end;
  return Number::missing(reason.empty() ? stats::kInsufficientSamples : reason);
}

PicturePart part_of(std::string_view name, const std::vector<double>& times, double confidence) {
  const auto sorted = stats::sorted_copy(times);
  const auto p50 = stats::estimate_quantile(times, sorted, stats::kPpmP50, confidence);
  return {std::string(name),
          std::ssize(times),
          stats::mean(times),
          {stats::median_sorted(sorted), end_of(p50.ci_low, p50.reason), end_of(p50.ci_high, p50.reason),
           confidence, p50.ci_method}};
}

}  // namespace

std::vector<PicturePart> picture_parts(const PictureTimes& times, double confidence) {
  std::vector<PicturePart> parts;
  for (const auto& [name, field] : {std::pair{kDecode, &PictureTimes::decode_ns},
                                    {kResize, &PictureTimes::resize_ns},
                                    {kNormalise, &PictureTimes::normalise_ns}})
    if (!(times.*field).empty()) parts.push_back(part_of(name, times.*field, confidence));
  return parts;
}

}  // namespace paceline::result
