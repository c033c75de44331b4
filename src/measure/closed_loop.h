// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "measure/lane_crew.h"
#include "measure/loop_types.h"
#include "measure/stop_decider.h"

// Keeps a fixed number of requests in flight: every lane issues its next one when its last is complete,
// without think time (methodology: load scenarios). The loop throttles itself, so latency is at that load.
namespace paceline::measure {

// Collects the samples of one lane for the thread that judges them.
class SampleLog {
 public:
  void add(const Sample& sample) {
    const std::lock_guard lock(mutex_);
    samples_.push_back(sample);
  }
  void move_to(std::vector<Sample>& into) {
    const std::lock_guard lock(mutex_);
    into.insert(into.end(), samples_.begin(), samples_.end());
    samples_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<Sample> samples_;
};

// Judges calls that lanes make side by side, wherever the lanes run. Samples are in order of completion.
template <Clock C>
class JudgedLoop {
 public:
  virtual ~JudgedLoop() = default;
  JudgedLoop(const JudgedLoop&) = delete;
  JudgedLoop& operator=(const JudgedLoop&) = delete;

  // Makes the first call of every lane, lane 0's alone and timed; then calls until the decider says steady.
  WarmupResult warm_up(StopDecider& decider) {
    WarmupResult warmup;
    warmup.first_iteration_ns = first_calls();
    stats::WarmupDecision decision{stats::WarmupState::kWarming, decider.first_warmup_check()};
    if (decision.next_n == 0) decision = decider.warmup({}, 0);
    std::size_t judged = 0;
    begin(Phase::kWarmup);
    if (decision.state == stats::WarmupState::kWarming)
      run(-1, [&] {
        while (decision.state == stats::WarmupState::kWarming && has(decision.next_n)) {
          const auto until = static_cast<std::size_t>(decision.next_n);
          const std::vector<Sample> fresh(samples_.begin() + static_cast<std::ptrdiff_t>(judged),
                                          samples_.begin() + static_cast<std::ptrdiff_t>(until));
          judged = until;
          decision = decider.warmup(per_iteration_ns(fresh, 0, 1), clock_.now_ns() - phase_start_ns_);
        }
        return decision.state != stats::WarmupState::kWarming;
      });
    warmup.state = decision.state;
    warmup.iterations = static_cast<std::int64_t>(samples_.size());
    warmup.duration_ns = samples_.empty() ? 0 : clock_.now_ns() - phase_start_ns_;
    return warmup;
  }

  // Measures until the decider has enough.
  LoopResult measure(StopDecider& decider, double sample_estimate_ns) {
    LoopResult result;
    result.stop.next_n = decider.first_stop_check(sample_estimate_ns / static_cast<double>(lanes_));
    begin(Phase::kMeasure);
    decision_ = &result.stop;
    run(-1, [&] {
      if (has(result.stop.next_n)) {
        result.stop = decider.stop(per_iteration_ns(samples_, 0, 1), clock_.now_ns() - phase_start_ns_);
        ++result.checks;
      }
      return result.stop.stop;
    });
    return finished(std::move(result));
  }

  // Makes `count` calls on whichever lane is free.
  LoopResult measure_count(std::int64_t count) {
    LoopResult result;
    begin(Phase::kMeasure);
    run(count, [] { return false; });
    result.stop.stop = !interrupted();
    result.stop.reason = interrupted() ? stats::kStopInterrupted : stats::kStopFixed;
    return finished(std::move(result));
  }

 protected:
  JudgedLoop(const C& clock, std::int64_t lanes, const LoopHooks& hooks, std::int64_t progress_interval_ns)
      : clock_(clock), hooks_(hooks), lanes_(lanes), progress_interval_ns_(progress_interval_ns) {}
  // Makes the first call of every lane, lane 0's alone, and returns how long that one took.
  virtual std::int64_t first_calls() = 0;
  // Makes `count` calls (below 0: without end) or until `enough` returns true. `enough` is called every few
  // ms, after the new samples have been added to `samples`; at the end all are there.
  virtual void run_calls(std::int64_t count, std::vector<Sample>& samples,
                         const std::function<bool()>& enough) = 0;
  [[nodiscard]] bool interrupted() const { return hooks_.interrupt != nullptr && hooks_.interrupt->load(); }

  const C& clock_;

 private:
  [[nodiscard]] bool has(std::int64_t n) const { return static_cast<std::int64_t>(samples_.size()) >= n; }

  void begin(Phase phase) {
    phase_ = phase;
    decision_ = nullptr;
    samples_.clear();
    phase_start_ns_ = last_report_ns_ = clock_.now_ns();
  }

  template <class Enough>
  void run(std::int64_t count, Enough enough) {
    run_calls(count, samples_, [&] {
      const bool stop = enough();
      report_if_due();
      return stop;
    });
    std::sort(samples_.begin(), samples_.end(), [](const Sample& a, const Sample& b) {
      return a.start_ns + a.duration_ns < b.start_ns + b.duration_ns;
    });
  }

  void report_if_due() {
    const auto now = clock_.now_ns();
    if (!hooks_.progress || now - last_report_ns_ < progress_interval_ns_) return;
    last_report_ns_ = now;
    const bool judged = decision_ != nullptr && decision_->first.ppm != 0;
    hooks_.progress({phase_, static_cast<std::int64_t>(samples_.size()), now - phase_start_ns_,
                     judged ? decision_ : nullptr});
  }

  LoopResult finished(LoopResult result) {
    result.samples = std::move(samples_);
    samples_.clear();
    finish(result, 0, interrupted());
    return result;
  }

  LoopHooks hooks_;  // a copy: callers may pass a temporary
  std::int64_t lanes_;
  std::int64_t progress_interval_ns_;
  std::vector<Sample> samples_;  // collected during this phase
  Phase phase_ = Phase::kWarmup;
  const stats::StopDecision* decision_ = nullptr;
  std::int64_t phase_start_ns_ = 0;
  std::int64_t last_report_ns_ = 0;
};

// Lanes that are threads of this process. `Body` is called with the lane, on the lane's own thread.
template <Clock C, class Body>
class ClosedLoop : public JudgedLoop<C> {
 public:
  ClosedLoop(const C& clock, Body& body, LaneCrew& crew, const LoopHooks& hooks = {},
             std::int64_t progress_interval_ns = LoopConfig{}.progress_interval_ns)
      : JudgedLoop<C>(clock, crew.size(), hooks, progress_interval_ns),
        body_(body),
        crew_(crew),
        logs_(static_cast<std::size_t>(crew.size())) {}

 private:
  std::int64_t first_calls() override {
    std::int64_t first_ns = 0;
    crew_.run([&](int lane) {
      if (lane == 0) first_ns = call(lane).duration_ns;
    });
    crew_.run([&](int lane) {
      if (lane != 0) call(lane);
    });
    return first_ns;
  }

  Sample call(int lane) {
    const auto start = this->clock_.now_ns();
    body_(lane);
    return {start, this->clock_.now_ns() - start};
  }

  [[nodiscard]] bool goes_on() {
    if (stop_.load(std::memory_order_relaxed) || crew_.failed() || this->interrupted()) return false;
    return count_ < 0 || tickets_.fetch_add(1, std::memory_order_relaxed) < count_;
  }

  void run_calls(std::int64_t count, std::vector<Sample>& samples,
                 const std::function<bool()>& enough) override {
    tickets_ = 0;
    count_ = count;
    stop_ = false;
    const auto collect = [&] {
      for (auto& log : logs_) log.move_to(samples);
    };
    crew_.run(
        [this](int lane) {
          while (goes_on()) logs_[static_cast<std::size_t>(lane)].add(call(lane));
        },
        [&] {
          collect();
          if (enough()) stop_ = true;
        });
    collect();
  }

  Body& body_;
  LaneCrew& crew_;
  std::vector<SampleLog> logs_;
  std::atomic<std::int64_t> tickets_ = 0;
  std::atomic<bool> stop_ = false;
  std::int64_t count_ = -1;  // below 0: until stopped
};

}  // namespace paceline::measure
