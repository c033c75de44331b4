// SPDX-License-Identifier: MIT
#include "measure/loop_types.h"

#include <algorithm>

namespace paceline::measure {

std::vector<double> per_iteration_ns(const std::vector<Sample>& samples, std::size_t first,
                                     std::int64_t batch) {
  std::vector<double> durations;
  durations.reserve(samples.size() - first);
  for (auto i = first; i < samples.size(); ++i)
    durations.push_back(static_cast<double>(samples[i].duration_ns) / static_cast<double>(batch));
  return durations;
}

std::vector<double> LoopResult::samples_ns() const {
  return per_iteration_ns(samples, 0, batch);
}

std::vector<double> LoopResult::periods_ns() const {
  std::vector<double> periods;
  periods.reserve(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto done = static_cast<std::int64_t>(i) + 1;
    const bool to_completion =
        i + 1 == samples.size() || std::binary_search(pauses.begin(), pauses.end(), done);
    const auto period =
        to_completion ? samples[i].duration_ns : samples[i + 1].start_ns - samples[i].start_ns;
    periods.push_back(static_cast<double>(period) / static_cast<double>(batch));
  }
  return periods;
}

void finish(LoopResult& result, double limit_ns, bool interrupted) {
  if (interrupted && !result.stop.stop) {
    result.stop.stop = true;
    result.stop.converged = false;
    result.stop.reason = stats::kStopInterrupted;
  }
  if (result.samples.empty()) return;
  const auto& last = result.samples.back();
  result.elapsed_ns = last.start_ns + last.duration_ns - result.samples.front().start_ns - result.others_ns;
  const auto durations = result.samples_ns();
  result.mser = stats::mser5(durations);
  result.long_enough_to_time = stats::median(durations) * static_cast<double>(result.batch) >= limit_ns;
}

}  // namespace paceline::measure
