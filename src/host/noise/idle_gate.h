// SPDX-License-Identifier: MIT
// Waits until the machine is quiet.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "base/maybe.h"
#include "host/noise/cpu_times.h"

namespace paceline::host {

struct IdleGateOptions {
  double window_s = 2;             // length of one window
  double idle_wait_s = 20;         // 0: watch one window, never wait
  double max_foreign_frac = 0.05;  // of the allowed CPUs
  int allowed_cpus = 1;
};

enum class IdleOutcome { kQuiet, kStillBusy, kInterrupted, kCannotTell };

struct IdleGateReport {
  IdleOutcome outcome = IdleOutcome::kCannotTell;
  Number foreign_cores;  // in the last window
  double waited_s = 0;   // total time spent here, including the first window
  int windows = 0;
  std::string words;  // the outcome for people; empty when the machine was quiet at once
};

// Time and sampling, which tests replace.
struct IdleGateSeams {
  std::function<CpuUse()> sample;
  std::function<bool(double seconds)> sleep;  // false: interrupted
};
IdleGateSeams real_idle_gate_seams();

// Watches window by window until others use at most the allowed share, or the time is up. `say` gets one line
// when waiting begins and one when it ends.
IdleGateReport wait_until_quiet(const IdleGateOptions& options,
                                const std::function<void(const std::string&)>& say,
                                const IdleGateSeams& seams = real_idle_gate_seams());

}  // namespace paceline::host
