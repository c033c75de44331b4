// SPDX-License-Identifier: MIT
#pragma once
#include "pass/accuracy_spec.h"
#include "result/stored/case_result.h"
#include "workload/inference/gate/compared_rows.h"

// Decides which figure counts for an output of a kind, and whether it is within its limit. Rules:
// docs/methodology.md, "Accuracy".
namespace paceline::workload {

inline constexpr double kClaimAlpha = 0.05;  // one-sided, of every verdict and claim

// The limits that were applied; the others are missing.
struct AppliedLimits {
  Number max_rel_err = Number::missing("the output was not judged by it");
  Number centred_cosine = max_rel_err, quantile_err = max_rel_err;
  Number max_changed;
};

struct JudgedOutput {
  result::OutputAgreement output;
  double part_of_limit = 0;  // above 1: beyond the limit
  AppliedLimits limits{};
};

// Measures what the output's kind needs besides its errors and cosines, and judges. `detail` names what is
// beyond a limit and the option that sets the limit; empty where nothing is.
void judge_output(JudgedOutput& judged, const ComparedRows& outputs, const ComparedRows& reference,
                  const pass::Tolerance& tolerance, double max_changed);

}  // namespace paceline::workload
