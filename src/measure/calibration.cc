// SPDX-License-Identifier: MIT
#include "measure/calibration.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "measure/loop_types.h"
#include "stats/quantile.h"

namespace paceline::measure {
namespace {

constexpr double kResolutions = 1000;  // an iteration lasts at least 1000 steps of the clock
constexpr double kReads = 200;         // and at least as long as 200 reads of the clock
constexpr double kLargestBatch = 4096;
}  // namespace

CalibrationConfig calibration_config() {
  CalibrationConfig config;
  const char* const length = std::getenv("PACELINE_CALIBRATION");
  if (!length || std::string_view(length) != "short") return config;
  config.timer_reads /= 50, config.null_iterations /= 50, config.os_noise_ns /= 50;
  return config;
}

// Only what is read is put in order, the last place first: a whole sort takes longer than the reads.
TimerCost timer_cost(std::vector<std::int64_t> steps_ns) {
  auto end = steps_ns.end();
  const auto in_order = [&](std::size_t index) {
    const auto place = steps_ns.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(steps_ns.begin(), place, end);
    end = place;
    return static_cast<double>(*place);
  };
  const std::size_t half = steps_ns.size() / 2;
  const double p99 = in_order(stats::nearest_rank_index(steps_ns.size(), stats::kPpmP99));
  const double middle = in_order(half);
  const double below = steps_ns.size() % 2 == 1 ? middle : in_order(half - 1);
  std::erase_if(steps_ns, [](std::int64_t step) { return step <= 0; });
  const auto smallest = std::min_element(steps_ns.begin(), steps_ns.end());
  return {smallest == steps_ns.end() ? 0 : static_cast<double>(*smallest), std::midpoint(below, middle), p99};
}

double per_iteration_limit_ns(const TimerCost& timer) {
  return std::max(kResolutions * timer.resolution_ns, kReads * timer.p50_ns);
}

std::int64_t batch_size(double iteration_ns, double limit_ns) {
  const double calls = std::ceil(limit_ns / std::max(iteration_ns, limit_ns / kLargestBatch));
  return limit_ns > 0 ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(calls))) : 1;
}

std::int64_t pipeline_depth(double iteration_ns) {
  constexpr double kBlockNs = 50e6, kLeast = 2;
  const double iterations = std::ceil(kBlockNs / std::max(iteration_ns, kBlockNs / kLargestBatch));
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(iterations, kLeast))));
}

double overhead_fraction(const Calibration& calibration, double median_ns) {
  return calibration.harness_cost_ns / median_ns;
}

double median_duration_ns(const std::vector<Sample>& samples) {
  return stats::median(per_iteration_ns(samples, 0, 1));
}

}  // namespace paceline::measure
