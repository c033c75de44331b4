// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "measure/clock_concept.h"
#include "measure/timed_block.h"

// Measures what measuring itself costs (methodology: harness overhead). Reported as a share of the median,
// never subtracted.
namespace paceline::measure {

struct CalibrationConfig {
  std::int64_t timer_reads = 1'000'000;
  std::int64_t null_iterations = 100'000;
  std::int64_t os_noise_ns = 100'000'000;
  std::int64_t os_gap_ns = 10'000;  // a longer gap between two reads is time of others
};

// The defaults; with PACELINE_CALIBRATION=short a fiftieth of each, for tests, which measure for less time
// than they calibrate.
CalibrationConfig calibration_config();

struct TimerCost {
  double resolution_ns = 0;  // smallest step other than 0
  double p50_ns = 0;         // of back-to-back reads
  double p99_ns = 0;
};

struct OsNoise {
  double gap_frac = 0;  // share of the spin that was lost in gaps
  std::int64_t largest_gap_ns = 0;
};

struct Calibration {
  TimerCost timer;
  double harness_cost_ns = 0;  // median of an empty body through the measuring loop
  OsNoise os_noise;
};

// Resolution and cost from the differences of back-to-back clock reads, in ns. `steps_ns` must not be empty.
TimerCost timer_cost(std::vector<std::int64_t> steps_ns);
// Shortest iteration that may be timed alone: max(1000 * resolution, 200 * cost of a read).
double per_iteration_limit_ns(const TimerCost& timer);
// Iterations per timer pair that make it last at least `limit_ns`: a power of two, 1 to 4096.
std::int64_t batch_size(double iteration_ns, double limit_ns);

// Iterations that are started before they are waited for: a power of two, 2 to 4096, whose block lasts at
// least 50 ms, so that filling and emptying the pipeline, some ten us, are less than 0.1 % of it.
std::int64_t pipeline_depth(double iteration_ns);

double overhead_fraction(const Calibration& calibration, double median_ns);

template <Clock C>
TimerCost calibrate_timer(const C& clock, std::int64_t reads) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(reads));
  auto previous = clock.now_ns();
  for (auto& step : steps) {
    const auto now = clock.now_ns();
    step = now - previous;
    previous = now;
  }
  return timer_cost(std::move(steps));
}

double median_duration_ns(const std::vector<Sample>& samples);

template <Clock C>
double calibrate_harness(const C& clock, std::int64_t iterations) {
  std::vector<Sample> samples;
  auto nothing = [] {};
  prepare(samples, iterations);
  run_block(clock, nothing, 1, iterations, samples, BlockHooks{});
  return median_duration_ns(samples);
}

template <Clock C>
OsNoise calibrate_os_noise(const C& clock, std::int64_t window_ns, std::int64_t gap_ns) {
  OsNoise noise;
  std::int64_t gaps_ns = 0;
  const auto start = clock.now_ns();
  auto previous = start;
  while (previous - start < window_ns) {
    const auto now = clock.now_ns();
    const auto step = now - previous;
    previous = now;
    if (step <= gap_ns) continue;
    gaps_ns += step;
    noise.largest_gap_ns = std::max(noise.largest_gap_ns, step);
  }
  noise.gap_frac = static_cast<double>(gaps_ns) / static_cast<double>(previous - start);
  return noise;
}

// Takes about 0.2 s with the defaults; called at the start and at the end of every measuring process.
template <Clock C>
Calibration calibrate(const C& clock, const CalibrationConfig& config = calibration_config()) {
  return {calibrate_timer(clock, config.timer_reads), calibrate_harness(clock, config.null_iterations),
          calibrate_os_noise(clock, config.os_noise_ns, config.os_gap_ns)};
}

}  // namespace paceline::measure
