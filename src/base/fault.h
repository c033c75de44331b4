// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

namespace paceline {

// A fault that a training run injects on purpose, to see what it costs and that it is noticed. The plan is
// parsed with it, and the rank injects it.
struct Fault {
  enum class Kind { kNone, kKill, kStop, kSlow, kNan, kThrottle, kSlowSave } kind = Kind::kNone;
  std::int64_t rank = 0;
  std::int64_t step = 0;  // kill, stop, nan: before this step; slow, throttle: from this step on
  double seconds = 0;     // slow: added to every step; slow_save: to every checkpoint
};

// "kill:rank=1,step=50", "stop:rank=1,step=50", "slow=200ms:rank=1", "nan:rank=0,step=3", "throttle:rank=1"
// (a spinning thread takes CPU time from the rank), "slow_save=5s:rank=1". Empty: none. Throws Error(kUsage)
// listing the forms.
Fault parse_fault(const std::string& text);

}  // namespace paceline
