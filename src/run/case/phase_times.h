// SPDX-License-Identifier: MIT
// How long a pass spent in each of its phases.
#pragma once
#include <string>
#include <vector>

#include "base/clock.h"
#include "pass/records.h"

namespace paceline::run {

struct PhaseTime {
  std::string phase;
  double seconds = 0;
};

// In the order of their first beginning; one that is entered again grows.
struct PassTimes {
  std::string pass;
  std::vector<PhaseTime> phases;
  [[nodiscard]] double seconds() const;
};

void add_phase(PassTimes& times, const PhaseTime& more);

// "check 5.63 s: start 0.21, load 0.44, check 4.98"
std::string words_of(const PassTimes& times);

// Hears a worker's records, and notes when its phases begin.
class PhaseWatch {
 public:
  explicit PhaseWatch(std::string pass);
  void take(const pass::ProgressRecord& record);
  PassTimes end();

 private:
  void enter(const std::string& phase);

  SteadyClock clock_;
  std::string phase_;
  std::int64_t since_ns_;
  PassTimes times_;
};

}  // namespace paceline::run
