// SPDX-License-Identifier: MIT
#include "workload/window/overhead_observer.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace paceline::workload {

namespace {

result::Overhead overhead_of(const measure::Calibration& start, const measure::Calibration& end,
                             double timed_ns) {
  result::Overhead o;
  o.timer_resolution_ns = start.timer.resolution_ns;
  o.timer_cost_ns = start.timer.p50_ns;
  o.timer_cost_p99_ns = start.timer.p99_ns;
  o.harness_cost_ns = std::max(start.harness_cost_ns, end.harness_cost_ns);
  o.overhead_fraction = *o.harness_cost_ns / timed_ns;
  o.os_noise_frac = std::max(start.os_noise.gap_frac, end.os_noise.gap_frac);
  o.calibration_drift = std::abs(end.harness_cost_ns / start.harness_cost_ns - 1);
  return o;
}

}  // namespace

OverheadObserver::OverheadObserver() : start_(measure::calibrate(SteadyClock{})) {}

void OverheadObserver::report(result::Repetition& into, double typical_ns) {
  into.overhead = overhead_of(start_, measure::calibrate(SteadyClock{}), typical_ns);
}

}  // namespace paceline::workload
