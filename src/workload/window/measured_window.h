// SPDX-License-Identifier: MIT
// Owns what is collected beside a timed loop.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "result/stored/case_result.h"

namespace paceline::workload {

// Collects something over a window, and never inside what the timer times.
class WindowObserver {
 public:
  virtual ~WindowObserver() = default;
  virtual void open() {}   // right before the first timed sample
  virtual void close() {}  // right after the last one
  // Writes what was collected. `typical_ns`: the median of what the timer timed at once.
  virtual void report(result::Repetition& into, double typical_ns) = 0;
};

// The window from the first timed sample to the last one. Observers open in the order in which they were
// added; they close and report in reverse order, so that the one added last is closest to the loop.
class MeasuredWindow {
 public:
  MeasuredWindow() = default;
  ~MeasuredWindow();  // as close(), whatever the observers throw
  MeasuredWindow(const MeasuredWindow&) = delete;
  MeasuredWindow& operator=(const MeasuredWindow&) = delete;

  template <class Observer, class... Arguments>
  Observer& add(Arguments&&... arguments) {
    auto made = std::make_unique<Observer>(std::forward<Arguments>(arguments)...);
    auto& observer = *made;
    observers_.push_back(std::move(made));
    return observer;
  }
  // Throws what an observer throws; those that were opened before it are closed with the window.
  void open();
  // Closes every observer that is open, then throws what the first of them threw. No effect on a closed
  // window.
  void close();
  void report(result::Repetition& into, double typical_ns) const;

 private:
  std::vector<std::unique_ptr<WindowObserver>> observers_;
  std::size_t open_ = 0;  // number of observers that are open, from the first on
};

// Closes a window at the end of a scope, where what its observers look at may end before the window does.
class WindowScope {
 public:
  explicit WindowScope(MeasuredWindow& window) : window_(window) {}
  ~WindowScope();
  WindowScope(const WindowScope&) = delete;
  WindowScope& operator=(const WindowScope&) = delete;

 private:
  MeasuredWindow& window_;
};

}  // namespace paceline::workload
