// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace paceline::workload {

// A fault made on purpose, to see what it costs and that it is noticed: KIND[=VALUE]:rank=R,step=S.
struct Fault {
  enum class Kind { kNone, kKill, kStop, kSlow, kNan, kThrottle } kind = Kind::kNone;
  std::int64_t rank = 0;
  std::int64_t step = 0;  // kill, stop, nan: before this step; slow, throttle: from this step on
  double seconds = 0;     // slow: added to every step
};

// "kill:rank=1,step=50", "stop:rank=1,step=50", "slow=200ms:rank=1", "nan:rank=0,step=3", "throttle:rank=1"
// (a thread that spins takes CPU time from the rank). Empty: none. Throws Error(kUsage) with the forms there
// are.
Fault parse_fault(const std::string& text);

// What the fault does to a rank before one of its steps: kill (SIGKILL) and stop (SIGSTOP) hit the process
// itself.
class FaultMaker {
 public:
  FaultMaker(const Fault& fault, std::int64_t rank);
  ~FaultMaker();
  FaultMaker(const FaultMaker&) = delete;
  FaultMaker& operator=(const FaultMaker&) = delete;
  // kill and stop: the process has no step after this one.
  [[nodiscard]] bool strikes(std::int64_t step) const;
  void before_step(std::int64_t step);
  void inside_step(std::int64_t step) const;  // slow
  // nan: this step's learning rate is not a number, so the next loss is none either.
  [[nodiscard]] bool poisons(std::int64_t step) const;

 private:
  Fault fault_;
  bool mine_;
  std::atomic<bool> spinning_{false};
  std::thread spinner_;
};

}  // namespace paceline::workload
