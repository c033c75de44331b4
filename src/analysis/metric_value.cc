// SPDX-License-Identifier: MIT
#include "analysis/metric_value.h"

#include <algorithm>
#include <array>

namespace paceline::analysis {
namespace {

// The result of a check is valid even where it failed the case.
bool is_of_check(const result::Metric& metric) {
  return metric.anchor == "accuracy" || metric.anchor == "agreement" || metric.anchor == "change-of-accuracy";
}

// Their headings in docs/metrics.md.
constexpr std::array<std::string_view, 6> kOutliveNoise{"speed-up",    "scaling-efficiency",
                                                        "cross-check", "memory",
                                                        "model-file",  "loss-and-accuracy-while-training"};

}  // namespace

bool outlives_noise(const result::Metric& metric) {
  return is_of_check(metric) || std::ranges::count(kOutliveNoise, metric.anchor) > 0;
}

result::MetricValue metric_value(const result::Metric& metric, const result::CaseResult& one) {
  result::MetricValue value = metric.get(one);
  const bool ran = one.outcome == result::Outcome::kOk;
  if (!ran && (value.value.value_or(0) == 0 || !is_of_check(metric)))
    return {{},
            {},
            {},
            one.reason_code == result::kNotMeasured    ? "not measured"
            : one.outcome == result::Outcome::kSkipped ? "case skipped"
                                                       : "case failed"};
  return value;
}

}  // namespace paceline::analysis
