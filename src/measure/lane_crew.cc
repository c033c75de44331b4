// SPDX-License-Identifier: MIT
#include "measure/lane_crew.h"

#include <utility>

namespace paceline::measure {

LaneCrew::LaneCrew(int lanes) {
  threads_.reserve(static_cast<std::size_t>(lanes));
  for (int lane = 0; lane < lanes; ++lane) threads_.emplace_back([this, lane] { work(lane); });
}

LaneCrew::~LaneCrew() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  start_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void LaneCrew::run(const Task& task, const std::function<void()>& watch, std::chrono::milliseconds interval) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  busy_ = size();
  failed_ = false;
  ++round_;
  start_.notify_all();
  const auto all_through = [this] { return busy_ == 0; };
  while (watch && !failed() && !end_.wait_for(lock, interval, all_through)) {
    lock.unlock();
    std::exception_ptr failure;
    try {
      watch();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    keep(failure);
  }
  end_.wait(lock, all_through);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// To be called under the lock.
void LaneCrew::keep(std::exception_ptr failure) {
  if (!failure || failure_) return;
  failure_ = std::move(failure);
  failed_ = true;
}

void LaneCrew::work(int lane) {
  std::int64_t done = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return over_ || round_ != done; });
    if (over_) return;
    done = round_;
    const Task& task = *task_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      task(lane);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    keep(failure);
    if (--busy_ == 0) end_.notify_all();
  }
}

}  // namespace paceline::measure
