// SPDX-License-Identifier: MIT
// Tells a profiler of NVIDIA which part of a process is the timed one.
#pragma once
#include <functional>

#include "workload/window/measured_window.h"

namespace paceline::workload {

// The calls of CUDA's runtime, or of its driver, that profilers wait for. Each returns CUDA's code.
struct ProfilerCalls {
  std::function<int()> synchronize, start, stop;
};

// Finds those of the library that this process has loaded; none loaded: empty functions.
ProfilerCalls find_profiler_calls();

// Whether the profiler in front of this process waits for them (PACELINE_CAPTURE, set by the coordinator).
bool profiler_waits();

// Begins and ends the range. The device does nothing at either end, so that no kernel lies half in it.
class ProfilerRange : public WindowObserver {
 public:
  explicit ProfilerRange(ProfilerCalls calls = find_profiler_calls()) : calls_(std::move(calls)) {}
  // Error(kUnsupported) where CUDA is not loaded, or refuses: the profile would be empty.
  void open() override;
  void close() override;
  void report(result::Repetition&, double) override {}

 private:
  ProfilerCalls calls_;
};

}  // namespace paceline::workload
