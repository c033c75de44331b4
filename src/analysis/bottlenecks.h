// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "result/run_result.h"

// What keeps a training step from being shorter: the findings about one case, with what each costs.
namespace paceline::analysis {

struct Bottleneck {
  std::string target;  // sync_stalls | input | host | memory | operators
  result::Finding finding;
  result::Estimate cost_ns;  // of a step
  result::Number share;      // of the step
};

// Those of `target` (all: of every one), the most expensive first; those whose cost is not known come last.
// `findings`: of the run.
std::vector<Bottleneck> bottlenecks_of(const result::CaseResult& one,
                                       const std::vector<result::Finding>& findings,
                                       std::string_view target = "all");

// What the bottleneck of this finding costs a step, in ns, whether or not it was found in the case, which has
// trained.
result::Estimate cost_of(std::string_view finding, const result::CaseResult& one);

// Shares of a step that say whether ranks wait: sync stalls are exposed communication and waiting for late
// ranks. Missing with their reasons.
struct StepShape {
  result::Number step_ns, stall_ns, stall_share, communication_share, straggler_wait_share, overlap_ratio,
      input_wait_share, host_share;
};
StepShape shape_of(const result::CaseResult& one);

// Why the profile of a case with several ranks is worth nothing; empty: it is not.
std::string no_communication(const result::CaseResult& one);

}  // namespace paceline::analysis
