// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "measure/timed_loop.h"
#include "pass/pass.h"
#include "workload/pass_records.h"
#include "workload/turn_taker.h"
#include "workload/window/measured_window.h"
#include "workload/window/noise_observer.h"
#include "workload/window/overhead_observer.h"

namespace paceline::workload {

// Times by an engine's own clock: the inferences of one sample together, how long the host took to start the
// first, and the parts of the last.
struct DeviceTimes {
  std::optional<std::int64_t> device_ns{}, enqueue_ns{}, input_ns{}, compute_ns{}, output_ns{};
  friend bool operator==(const DeviceTimes&, const DeviceTimes&) = default;
};

// One repetition in one process, alone or as a rank: what is timed, the window around it, and the records of
// both.
class TimedRepetition {
 public:
  // Pins the process where the spec says so, and calibrates the timer.
  TimedRepetition(const pass::PassSpec& spec, TaggedSink& sink);

  // Adds the observers of every timed window, after those of the pass itself. `processes`: others that belong
  // to the measurement. `samples`: whether the samplers of the pass run in this process.
  void observe(std::vector<int> processes = {}, bool samples = true);
  // Works in turns with other processes; null: alone. It outlives the loop.
  void take_turns(TurnTaker* turns) { turns_ = turns; }
  // `before_sample` gets the number of a sample and runs outside the timed part. An interrupt ends the loop
  // between two iterations.
  template <class Body>
  measure::LoopResult run_loop(Body&& body, const std::atomic<bool>& interrupt,
                               std::function<void(std::int64_t)> before_sample = {}) {
    observe();
    const measure::LoopHooks hooks{
        std::move(before_sample),
        [this](const measure::Progress& p) {
          auto progress = to_progress(p);
          progress.blocks = spec_.loop.pipelined;
          sink_.emit(pass::progress_record(progress));
        },
        [this] { begin_window(); },
        [this] { end_window(); },
        &interrupt,
        turns_ ? [this] { return turns_->pause(); } : std::function<std::int64_t()>()};
    measure::AloneDecider decider(spec_.loop.warmup, spec_.loop.stop, spec_.loop.iterations);
    return measure::run_timed_loop(SteadyClock{}, std::forward<Body>(body), spec_.loop, timer(), decider,
                                   hooks);
  }

  // Fills in what the loop and the observers know; `timed_ns`: what the timer timed at once.
  void fill(const measure::LoopResult& loop, double timed_ns);
  // Reports the samples, what samplers read, and the repetition.
  void emit(const std::vector<result::Sample>& samples);
  // Both, of run_loop(); `device` holds one entry per sample, where a device has times.
  void emit(const measure::LoopResult& loop, const std::vector<DeviceTimes>& device = {});

  [[nodiscard]] const measure::TimerCost& timer() const { return overhead_->timer(); }

  result::Repetition figures;  // the pass fills in what is its own: load time, figures of its engine
  std::vector<result::SampledWindow> sampled;  // once the window has reported
  MeasuredWindow window;

 private:
  void begin_window();
  void end_window();

  const pass::PassSpec& spec_;
  TaggedSink& sink_;
  OverheadObserver* overhead_ = nullptr;  // of the window
  NoiseObserver* noise_ = nullptr;        // likewise, from observe() on
  TurnTaker* turns_ = nullptr;
};

}  // namespace paceline::workload
