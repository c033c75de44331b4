// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "measure/calibration.h"
#include "measure/loop_types.h"
#include "measure/stop_decider.h"

// Times first call, warm-up and measurement of one body, call by call (methodology: measurement loop).
namespace paceline::measure {

template <Clock C, class Body>
class TimedLoop {
 public:
  TimedLoop(const C& clock, Body& body, const LoopConfig& config, const TimerCost& timer,
            StopDecider& decider, const LoopHooks& hooks)
      : clock_(clock),
        body_(body),
        config_(config),
        limit_ns_(per_iteration_limit_ns(timer)),
        decider_(decider),
        hooks_(hooks) {}

  LoopResult run() {
    first_call();
    warm_up();
    result_.batch =
        config_.pipelined ? block_size() : config_.batch.value_or(batch_size(estimate_ns_, limit_ns_));
    if (hooks_.measure_begins) hooks_.measure_begins();
    measure();
    if (hooks_.measure_ends) hooks_.measure_ends();
    finish(result_, limit_ns_, interrupted());
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool interrupted() const { return hooks_.interrupt != nullptr && hooks_.interrupt->load(); }

  void first_call() {
    std::vector<Sample> sample;
    prepare(sample, 1);
    run_block(clock_, body_, 1, 1, sample, BlockHooks{});
    result_.warmup.first_iteration_ns = sample.front().duration_ns;
    estimate_ns_ = static_cast<double>(sample.front().duration_ns);
  }

  void warm_up() {
    std::vector<Sample> samples;
    begin_phase(Phase::kWarmup, samples);
    stats::WarmupDecision decision{stats::WarmupState::kWarming, decider_.first_warmup_check()};
    while (decision.state == stats::WarmupState::kWarming) {
      const auto judged = samples.size();
      if (!run_until(decision.next_n, 1, samples, nullptr)) break;
      const auto fresh = per_iteration_ns(samples, judged, 1);
      if (!fresh.empty()) estimate_ns_ = stats::median(fresh);
      decision = decider_.warmup(fresh, clock_.now_ns() - phase_start_ns_);
    }
    result_.warmup.state = decision.state;
    result_.warmup.iterations = static_cast<std::int64_t>(samples.size());
    result_.warmup.duration_ns = samples.empty() ? 0 : clock_.now_ns() - phase_start_ns_;
  }

  void measure() {
    auto& r = result_;
    begin_phase(Phase::kMeasure, r.samples);
    r.stop.next_n = decider_.first_stop_check(estimate_ns_ * static_cast<double>(r.batch));
    while (!r.stop.stop && run_until(r.stop.next_n, r.batch, r.samples, &r.pauses)) {
      r.stop = decider_.stop(r.samples_ns(), r.samples.back().start_ns + r.samples.back().duration_ns -
                                                 phase_start_ns_ - r.others_ns);
      ++r.checks;
      r.pauses.push_back(static_cast<std::int64_t>(r.samples.size()));
      report(clock_.now_ns());
    }
  }

  // Warm-up waits for each iteration; the first blocks show how long one takes back to back.
  std::int64_t block_size() {
    constexpr int kUntimedBlocks = 2;
    for (int i = 0; i < kUntimedBlocks && !config_.batch && !interrupted(); ++i) {
      const auto size = pipeline_depth(estimate_ns_);
      std::vector<Sample> sample;
      prepare(sample, 1);
      run_block(clock_, body_, size, 1, sample, BlockHooks{});
      estimate_ns_ = per_iteration_ns(sample, 0, size).front();
    }
    return config_.batch.value_or(pipeline_depth(estimate_ns_));
  }

  void begin_phase(Phase phase, const std::vector<Sample>& samples) {
    phase_ = phase;
    current_ = &samples;
    phase_start_ns_ = clock_.now_ns();
    last_report_ns_ = phase_start_ns_;
  }

  // Returns false when interrupted.
  bool run_until(std::int64_t n, std::int64_t batch, std::vector<Sample>& samples,
                 std::vector<std::int64_t>* pauses) {
    prepare(samples, n);
    // A pause behind the last sample would be no time between two.
    const auto goes_on = [&] { return pauses != nullptr && std::ssize(samples) < n; };
    const auto after = [&, this](const Sample& sample) {
      const bool reported = hooks_.progress && report_if_due(sample.start_ns + sample.duration_ns);
      return (goes_on() && paused()) || reported;
    };
    const BlockHooks hooks{hooks_.before_sample,
                           hooks_.progress || hooks_.pause ? BlockHooks::After(after) : nullptr,
                           hooks_.interrupt, pauses};
    run_block(clock_, body_, batch, n, samples, hooks);
    return !interrupted();
  }

  bool paused() {
    const auto others_ns = hooks_.pause ? hooks_.pause() : 0;
    result_.others_ns += others_ns;
    return others_ns > 0;
  }

  bool report_if_due(std::int64_t now_ns) {
    if (now_ns - last_report_ns_ < config_.progress_interval_ns) return false;
    report(now_ns);
    return true;
  }

  void report(std::int64_t now_ns) {
    last_report_ns_ = now_ns;
    if (!hooks_.progress) return;
    Progress progress{phase_, static_cast<std::int64_t>(current_->size()),
                      now_ns - phase_start_ns_ - result_.others_ns};
    if (result_.checks > 0) progress.decision = &result_.stop;
    if (phase_ == Phase::kMeasure && !current_->empty())
      progress.median_ns = stats::median(per_iteration_ns(*current_, 0, result_.batch));
    hooks_.progress(progress);
  }

  const C& clock_;
  Body& body_;
  const LoopConfig& config_;
  double limit_ns_;
  StopDecider& decider_;
  const LoopHooks& hooks_;
  LoopResult result_;
  double estimate_ns_ = 0;  // of one iteration, from what ran last
  Phase phase_ = Phase::kWarmup;
  const std::vector<Sample>* current_ = nullptr;
  std::int64_t phase_start_ns_ = 0;
  std::int64_t last_report_ns_ = 0;
};

// Runs `body` (a callable without arguments, or one that takes a number of iterations). `timer` comes from
// calibrate(), and decides when one iteration is too short to be timed alone.
template <Clock C, class Body>
LoopResult run_timed_loop(const C& clock, Body&& body, const LoopConfig& config, const TimerCost& timer,
                          StopDecider& decider, const LoopHooks& hooks = {}) {
  return TimedLoop<C, std::remove_reference_t<Body>>(clock, body, config, timer, decider, hooks).run();
}

}  // namespace paceline::measure
