// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace paceline::measure {

// A crew of threads that serve requests side by side, one thread per lane. Each lane keeps its thread from
// task to task, because thread pools of libraries belong to the thread that made them.
class LaneCrew {
 public:
  using Task = std::function<void(int lane)>;
  explicit LaneCrew(int lanes);
  ~LaneCrew();
  LaneCrew(const LaneCrew&) = delete;
  LaneCrew& operator=(const LaneCrew&) = delete;
  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()); }
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }
  // Runs the task on every lane and returns when all have finished. Meanwhile `watch` is called on the
  // calling thread every `interval`. Rethrows the first exception of a lane or of `watch`; a long task should
  // poll failed().
  void run(const Task& task, const std::function<void()>& watch = {},
           std::chrono::milliseconds interval = std::chrono::milliseconds(5));

 private:
  void work(int lane);
  void keep(std::exception_ptr failure);

  std::mutex mutex_;
  std::condition_variable start_, end_;
  const Task* task_ = nullptr;
  std::int64_t round_ = 0;
  int busy_ = 0;
  bool over_ = false;
  std::exception_ptr failure_;  // the first of a round
  std::atomic<bool> failed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace paceline::measure
