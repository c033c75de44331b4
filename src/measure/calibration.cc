// SPDX-License-Identifier: MIT
#include "measure/calibration.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "measure/loop_types.h"
#include "stats/quantile.h"

namespace paceline::measure {
namespace {

constexpr double kResolutions = 1000;  // an iteration lasts at least 1000 steps of the clock
constexpr double kReads = 200;         // and at least as long as 200 reads of the clock
constexpr double kLargestBatch = 4096;
}  // namespace

TimerCost timer_cost(std::vector<std::int64_t> steps_ns) {
  std::sort(steps_ns.begin(), steps_ns.end());
  const std::vector<double> sorted(steps_ns.begin(), steps_ns.end());
  const auto smallest = std::upper_bound(sorted.begin(), sorted.end(), 0.0);
  return {smallest == sorted.end() ? 0 : *smallest, stats::median_sorted(sorted),
          stats::nearest_rank(sorted, stats::kPpmP99), stats::nearest_rank(sorted, 999'900)};
}

double per_iteration_limit_ns(const TimerCost& timer) {
  return std::max(kResolutions * timer.resolution_ns, kReads * timer.p50_ns);
}

std::int64_t batch_size(double iteration_ns, double limit_ns) {
  const double calls = std::ceil(limit_ns / std::max(iteration_ns, limit_ns / kLargestBatch));
  return limit_ns > 0 ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(calls))) : 1;
}

double overhead_fraction(const Calibration& calibration, double median_ns) {
  return calibration.harness_cost_ns / median_ns;
}

double median_duration_ns(const std::vector<Sample>& samples) {
  return stats::median(per_iteration_ns(samples, 0, 1));
}

}  // namespace paceline::measure
