// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "result/stored/run_result.h"

// Limits of a training step's time: findings about one case, each with its cost.
namespace paceline::analysis {

struct Bottleneck {
  std::string target;  // sync_stalls | input | host | memory | operators
  result::Finding finding;
  result::Estimate cost_ns;  // of a step
  Number share;              // of the step
};

// Bottlenecks of `target` ("all": every target) among the run's `findings`, the most expensive first; those
// without a known cost come last.
std::vector<Bottleneck> bottlenecks_of(const result::CaseResult& one,
                                       const std::vector<result::Finding>& findings,
                                       std::string_view target = "all");

// Cost per step, in ns, of the bottleneck of this finding, whether or not it was found. `one` must have
// trained.
result::Estimate cost_of(std::string_view finding, const result::CaseResult& one);

// Shares of a step that ranks spend waiting: sync stalls are exposed communication and waiting for late
// ranks. A missing share has its reason.
struct StepShape {
  Number step_ns, stall_ns, stall_share, communication_share, straggler_wait_share, overlap_ratio,
      input_wait_share, host_share;
};
StepShape shape_of(const result::CaseResult& one);

// Why the profile of a case with several ranks cannot be used; empty: it can.
std::string no_communication(const result::CaseResult& one);

}  // namespace paceline::analysis
