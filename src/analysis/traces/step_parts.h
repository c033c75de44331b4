// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "analysis/traces/intervals.h"
#include "analysis/traces/trace_step.h"

namespace paceline::analysis::traces {

// Parts of one step while it is put together.
struct StepParts {
  TraceStep step;
  Interval host;             // the scope of the step
  std::uint32_t thread = 0;  // that the scope is on
  Intervals loader, optimizer, backward, forward_scopes, backward_scopes;
  std::vector<Exchange> exchanges;
  std::array<Intervals, 3> kernels;  // that compute: of forward, backward, optimizer
  std::int64_t device_end = std::numeric_limits<std::int64_t>::min();  // of its last kernel
  std::int64_t launches = 0;                                           // of kernels
  std::int64_t without_kernel = 0;  // launches whose kernel is not in the trace
  std::int64_t last_launch = std::numeric_limits<std::int64_t>::min();
  bool end_known = true;  // the kernel of the last launch is in the trace
  std::map<std::int64_t, int> first_dims;
  std::int64_t operators = 0;  // and launches, on any thread of the host
};

inline double share_without_kernel(const StepParts& parts) {
  return parts.launches > 0 ? static_cast<double>(parts.without_kernel) / static_cast<double>(parts.launches)
                            : 0;
}

// Times in a rank's trace that steps share.
struct RankTimes {
  Intervals computing, device_busy;
  bool device = false;  // it ran kernels
};

// Gives every moment of the step to the first part that has it.
TraceStep finished(StepParts parts, const RankTimes& times);

}  // namespace paceline::analysis::traces
