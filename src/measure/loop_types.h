// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "measure/timed_block.h"
#include "stats/mser.h"
#include "stats/stop_rule.h"
#include "stats/warmup.h"

// Input and output of the timed loop.
namespace paceline::measure {

// The defaults are those of the methodology; the caller overrides them as the plan asks.
struct LoopConfig {
  stats::WarmupConfig warmup;
  stats::StopConfig stop;
  std::optional<std::int64_t> iterations;  // fixed count of samples; none: the stop rule decides
  std::optional<std::int64_t> batch;       // calls per timer pair; none: 1, or more when the body is too fast
  bool pipelined = false;                  // a sample is a block of iterations that are waited for at once
  std::int64_t progress_interval_ns = 500'000'000;
};

enum class Phase : std::uint8_t { kWarmup, kMeasure };

struct Progress {
  Phase phase = Phase::kWarmup;
  std::int64_t n = 0;  // samples in this phase
  std::int64_t elapsed_ns = 0;
  const stats::StopDecision* decision = nullptr;  // the last checkpoint's; null before the first
  std::optional<double> median_ns{};              // per iteration, of measured samples before it
};

// Called between samples, never inside the timed region. Each may be empty.
struct LoopHooks {
  std::function<void(std::int64_t)> before_sample;  // index in its phase: rotate inputs, flush caches
  std::function<void(const Progress&)> progress;    // at checkpoints and every progress interval
  std::function<void()> measure_begins;             // noise snapshots
  std::function<void()> measure_ends;
  const std::atomic<bool>* interrupt = nullptr;  // true: stop between two samples and keep those taken
  // Between two measured samples: lets others work, and returns how long that took in ns; 0: it did not.
  std::function<std::int64_t()> pause{};
};

struct WarmupResult {
  std::int64_t first_iteration_ns = 0;  // its own metric, part of neither warm-up nor measurement
  std::int64_t iterations = 0;
  std::int64_t duration_ns = 0;
  stats::WarmupState state = stats::WarmupState::kWarming;  // kWarming: interrupted
};

struct LoopResult {
  WarmupResult warmup;
  std::vector<Sample> samples;
  std::int64_t batch = 1;            // above 1 a sample is a mean: single-iteration quantiles are missing
  bool long_enough_to_time = true;   // the median sample is at least per_iteration_limit_ns long
  std::vector<std::int64_t> pauses;  // sample counts after which the loop paused, ascending
  std::int64_t checks = 0;           // checkpoints judged
  std::int64_t elapsed_ns = 0;       // first issue to last completion, less the work of others in between
  std::int64_t others_ns = 0;        // time of others in LoopHooks::pause
  stats::StopDecision stop;
  std::optional<stats::MserCut> mser;  // none below 50 samples; counts samples

  [[nodiscard]] std::vector<double> samples_ns() const;  // per iteration
  // From one issue to the next, per iteration; before a pause and at the end, until the completion.
  [[nodiscard]] std::vector<double> periods_ns() const;
};

// Durations per iteration in ns: those of samples[first..] divided by `batch`.
std::vector<double> per_iteration_ns(const std::vector<Sample>& samples, std::size_t first,
                                     std::int64_t batch);

// Completes `result` with what needs the whole series: left-over warm-up, and whether the median sample lasts
// at least `limit_ns`.
void finish(LoopResult& result, double limit_ns, bool interrupted);

}  // namespace paceline::measure
