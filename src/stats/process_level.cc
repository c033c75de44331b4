// SPDX-License-Identifier: MIT
#include "stats/process_level.h"

#include <algorithm>
#include <cmath>

#include "stats/quantile.h"
#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::stats {
namespace {

bool all_positive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
}

void add_order_statistics(ProcessEstimate& estimate, std::span<const double> sorted) {
  const Ranks ranks = quantile_ranks(estimate.processes, 0.5, tail(estimate.confidence));
  estimate.ci =
      Interval{sorted[static_cast<std::size_t>(ranks.l - 1)], sorted[static_cast<std::size_t>(ranks.u - 1)]};
  estimate.ci_method = "binomial_processes";
  estimate.actual_coverage = rank_coverage(estimate.processes, 0.5, ranks);
}

void add_t_on_logs(ProcessEstimate& estimate, std::span<const double> values) {
  std::vector<double> logs(values.begin(), values.end());
  for (double& v : logs) v = std::log(v);
  const auto n = static_cast<double>(logs.size());
  const double centre = mean(logs);
  const double half = student_t(n - 1, estimate.confidence) * *stddev(logs) / std::sqrt(n);
  estimate.ci = Interval{std::exp(centre - half), std::exp(centre + half)};
  estimate.ci_method = "t_log_processes";
}

double relative_spread(std::span<const double> x) {
  return kMadToSigma * mad(x) / median(x);
}

}  // namespace

ProcessEstimate over_processes(std::span<const double> values, double confidence) {
  const auto sorted = sorted_copy(values);
  ProcessEstimate estimate;
  estimate.processes = static_cast<std::int64_t>(values.size());
  estimate.value = median_sorted(sorted);
  estimate.confidence = confidence;
  if (estimate.processes >= required_n(0.5, tail(confidence))) {
    add_order_statistics(estimate, sorted);
  } else if (estimate.processes < 2) {
    estimate.reason = "one process";
  } else if (!all_positive(values)) {
    estimate.reason = "a value is not positive";
  } else {
    add_t_on_logs(estimate, values);
  }
  return estimate;
}

std::vector<double> process_medians(std::span<const std::vector<double>> processes) {
  std::vector<double> medians;
  for (const auto& samples : processes) medians.push_back(median(samples));
  return medians;
}

ProcessSpread process_spread(std::span<const std::vector<double>> processes) {
  ProcessSpread spread;
  std::vector<double> within;
  for (const auto& samples : processes)
    if (samples.size() >= 2 && median(samples) > 0) within.push_back(relative_spread(samples));
  if (!within.empty()) spread.within_frac = median(within);
  if (processes.size() < 2) return spread;
  const auto medians = process_medians(processes);
  if (median(medians) > 0) spread.between_frac = relative_spread(medians);
  return spread;
}

}  // namespace paceline::stats
