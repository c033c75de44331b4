// SPDX-License-Identifier: MIT
// Sleeps between the samples of a timed pass, and reads what the machine does meanwhile.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/system_files.h"

namespace paceline::workload {

class IdleGap {
 public:
  using Hook = std::function<void(std::int64_t)>;
  using Signs = std::vector<std::pair<std::string, std::string>>;
  // An interrupt ends a gap.
  IdleGap(std::int64_t gap_ns, const std::atomic<bool>& interrupt,
          host::SystemFiles files = host::SystemFiles());
  // For LoopHooks::before_sample: `before`, then the gap. Without a gap that was asked for: `before` alone.
  [[nodiscard]] Hook hook(Hook before);
  // Signs of what a gap costs, over the last phase: page faults per inference and the time of one, the clock
  // behind an inference, and the idle state with most of the time, with the time to leave it. Empty without a
  // gap that was asked for; what cannot be read is left out.
  [[nodiscard]] Signs signs() const;

 private:
  void begin_phase();
  void end_sample();
  void sleep() const;
  // Empty where cores poll; in a virtual machine only that the host's state is not known.
  [[nodiscard]] Signs idle_signs() const;

  std::int64_t gap_ns_;
  const std::atomic<bool>& interrupt_;
  host::SystemFiles files_;
  std::int64_t samples_ = 0, faults_ = 0, faults_before_ = 0, clocks_ = 0;
  double mhz_ = 0;
  std::map<std::string, std::int64_t> idle_us_;  // by state, at the begin of the phase
};

}  // namespace paceline::workload
