// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/case_result.h"
#include "workload/inference/compared_rows.h"
#include "workload/pass.h"

// From figures to verdicts. Rules and where they are from: docs/methodology.md, "Accuracy".
namespace paceline::workload {

inline constexpr double kClaimAlpha = 0.05;  // one-sided, of every verdict here

// Compares and judges: what decides (answers where weights are trained and the answers differ from input to
// input, else the outputs), whether it is within the limits, and the claim. `reference` may be null: then
// only shape and finiteness are known, and nothing can be claimed.
result::Correctness judge_outputs(const ComparedRows& outputs, const ComparedRows* reference,
                                  const Tolerance& tolerance, const AccuracyQuestion& question);

// After the timed loop: the outputs only, against `tolerance`.
result::Correctness compare_outputs(const ComparedRows& outputs, const ComparedRows& reference,
                                    const Tolerance& tolerance);

}  // namespace paceline::workload
