// SPDX-License-Identifier: MIT
#include "analysis/metric_value.h"

#include <algorithm>
#include <array>

namespace paceline::analysis {
namespace {

result::Estimate full_estimate() {
  return {1.0, 0.5, 2.0, 0.95, "binomial"};
}

// A case in which every estimate and quantile has an interval.
result::CaseResult fully_measured() {
  result::CaseResult one;
  one.headline.p50_ns = full_estimate();
  one.headline.scope = result::kBetweenProcess;
  one.throughput.per_s = full_estimate();
  one.speedup.ratio = full_estimate();
  one.training.emplace();
  one.collective.emplace();
  auto& figures = one.collective->sizes.emplace_back().out_of_place;
  figures.n = 1, figures.sync_ns = figures.sync_busbw_gb_per_s = full_estimate();
  auto& scaling = one.scaling.emplace();
  scaling.efficiency = 1.0, scaling.ci_low = 0.5, scaling.ci_high = 2.0;
  one.benchmark.params["sequence_length"] = "1";
  auto& c = one.correctness;
  for (auto* share : {&c.top1, &c.top5, &c.next_token, &c.labelled.top1, &c.labelled.change})
    *share = full_estimate();
  for (const double p : {0.5, 0.9, 0.95, 0.99, 0.999})
    one.stats.quantiles.push_back({p, 1.0, 0.5, 2.0, 0.95, "binomial", {}, {}});
  return one;
}

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

bool carries_interval(const result::Metric& metric) {
  static const result::CaseResult kProbe = fully_measured();
  return metric.get(kProbe).ci_low.has_value();
}

}  // namespace paceline::analysis
