// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

namespace paceline {

// A fault that a training run injects on purpose, to see what it costs and that it is noticed. The plan is
// parsed with it, and the rank injects it.
struct Fault {
  enum class Kind {
    kNone,
    kKill,
    kStop,
    kSlow,
    kNan,
    kThrottle,
    kSlowSave,
    kSlowLoad,
    kSlowLink
  } kind = Kind::kNone;
  static constexpr std::int64_t kEveryRank = -1;
  std::int64_t rank = 0;
  std::int64_t step = 0;  // kill, stop, nan: before this step; slow, throttle: from this step on
  double seconds = 0;     // added to every step (slow), checkpoint, batch or exchange of a bucket
};

// "kill:rank=1,step=50", "stop:rank=1,step=50", "slow=200ms:rank=1", "nan:rank=0,step=3", "throttle:rank=1"
// (a process that spins takes CPU time from the rank), "slow_save=5s:rank=1", "slow_load=20ms:rank=1" (every
// rank without a rank), "slow_link=5ms" (always every rank). Empty: none. Throws Error(kUsage) listing the
// forms.
Fault parse_fault(const std::string& text);

}  // namespace paceline
