// SPDX-License-Identifier: MIT
// Turns marks on a device's clock into the times of a step's parts.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "plugin/trainer.h"

namespace paceline::torch_plugin {

// Where the time of a step went on an asynchronous device: marks are in the order of the device's work, and
// each holds the moment when the device reached it. Mark: made from its Place (which device); set() puts it
// behind the work enqueued so far, wait() waits until the device reaches it, reached() asks,
// ns_since(earlier) is the time between two reached marks. Marks are reused.
template <typename Mark>
class StepTimeline {
 public:
  explicit StepTimeline(typename Mark::Place place) : place_(place) {}

  // The zero of all times: when the device has finished earlier work, but not before this call.
  void open() {
    const std::lock_guard lock(mutex_);
    used_ = 0;
    phases_.clear();
    buckets_.clear();
    zero_ = set_next();
  }
  void enter(plugin::StepPhase phase) {
    const std::lock_guard lock(mutex_);
    phases_.emplace_back(phase, set_next());
  }
  // Buckets come in order, from 0.
  void launched(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    buckets_.push_back({bytes, set_next(), nullptr});
  }
  // The current stream waits for the end of that all-reduce.
  void finished(int bucket) {
    const std::lock_guard lock(mutex_);
    if (bucket >= 0 && static_cast<std::size_t>(bucket) < buckets_.size())
      buckets_[static_cast<std::size_t>(bucket)].finished = set_next();
  }

  // After enter(kEnd): waits until the device reaches the end.
  void wait() { phases_.back().second->wait(); }
  // After wait.
  [[nodiscard]] plugin::StepTimes times() const {
    const std::lock_guard lock(mutex_);
    plugin::StepTimes times;
    times.data_wait_ns = since_zero(phases_.front().second);
    times.step_ns = since_zero(phases_.back().second);
    for (std::size_t i = 0; i + 1 < phases_.size(); ++i)
      times.phase_ns.at(static_cast<std::size_t>(phases_[i].first)) +=
          std::llround(phases_[i + 1].second->ns_since(*phases_[i].second));
    for (const auto& bucket : buckets_) times.buckets.push_back(times_of(bucket));
    return times;
  }

 private:
  struct Bucket {
    std::int64_t bytes;
    Mark* launched;
    Mark* finished;  // null: its end was not reported
  };
  Mark* set_next() {
    if (used_ == marks_.size()) marks_.emplace_back(place_);
    Mark& mark = marks_[used_++];
    mark.set();
    return &mark;
  }
  [[nodiscard]] std::int64_t since_zero(const Mark* mark) const {
    return std::llround(mark->ns_since(*zero_));
  }
  [[nodiscard]] plugin::BucketTimes times_of(const Bucket& bucket) const {
    plugin::BucketTimes times{bucket.bytes, since_zero(bucket.launched), {}};
    if (bucket.finished && bucket.finished->reached()) times.finished_ns = since_zero(bucket.finished);
    return times;
  }

  typename Mark::Place place_;
  mutable std::mutex mutex_;  // backward passes and collectives run on other threads
  std::deque<Mark> marks_;    // a deque, so that addresses stay
  std::size_t used_ = 0;
  Mark* zero_ = nullptr;
  std::vector<std::pair<plugin::StepPhase, Mark*>> phases_;
  std::vector<Bucket> buckets_;
};

}  // namespace paceline::torch_plugin
