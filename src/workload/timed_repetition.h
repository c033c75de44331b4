// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "host/noise.h"
#include "measure/calibration.h"
#include "measure/timed_loop.h"
#include "pass/pass.h"
#include "workload/pass_records.h"

namespace paceline::workload {

// One repetition of whatever one process times alone: calibrations before and after the loop, the noise
// beside it, and the records of both.
class TimedRepetition {
 public:
  // Pins the process where the spec says so, and calibrates the timer.
  TimedRepetition(const pass::PassSpec& spec, TaggedSink& sink);

  // `before_sample` gets the number of a sample and runs outside the timed part. An interrupt ends the loop
  // between two iterations.
  template <class Body>
  measure::LoopResult run_loop(Body&& body, const std::atomic<bool>& interrupt,
                               std::function<void(std::int64_t)> before_sample = {}) {
    const auto snapshot = [this] { snapshots_.push_back(host::take_snapshot()); };
    const measure::LoopHooks hooks{
        std::move(before_sample),
        [this](const measure::Progress& p) { sink_.emit(pass::progress_record(to_progress(p))); }, snapshot,
        snapshot, &interrupt};
    measure::AloneDecider decider(spec_.loop.warmup, spec_.loop.stop, spec_.loop.iterations);
    return measure::run_timed_loop(SteadyClock{}, std::forward<Body>(body), spec_.loop, start_.timer, decider,
                                   hooks);
  }

  // Fills in what the loop and the machine say; `timed_ns`: what the timer timed at once.
  void fill(const measure::LoopResult& loop, const result::Noise& noise, double timed_ns);
  // Reports the samples and the repetition.
  void emit(const std::vector<result::Sample>& samples);
  // Both, of run_loop(); `device_ns` holds one time per sample, where a device has times.
  void emit(const measure::LoopResult& loop, const std::vector<std::optional<std::int64_t>>& device_ns = {});

  result::Repetition figures;  // what the pass itself fills in: load time, memory

 private:
  const pass::PassSpec& spec_;
  TaggedSink& sink_;
  measure::Calibration start_;
  std::vector<host::NoiseSnapshot> snapshots_;
};

}  // namespace paceline::workload
