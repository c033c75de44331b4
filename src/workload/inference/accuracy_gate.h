// SPDX-License-Identifier: MIT
#pragma once
#include <span>

#include "result/case_result.h"
#include "workload/inference/compared_outputs.h"
#include "workload/inference/compared_rows.h"
#include "workload/pass.h"

// From figures to verdicts. Rules and where they are from: docs/methodology.md, "Accuracy".
namespace paceline::workload {

inline constexpr double kClaimAlpha = 0.05;  // one-sided, of every verdict here

// Compares and judges one output: what decides (answers where weights are trained and the answers differ from
// input to input, else the outputs), whether it is within the limits, and the claim. `reference` may be null:
// then only shape and finiteness are known, and nothing can be claimed.
result::Correctness judge_outputs(const ComparedRows& outputs, const ComparedRows* reference,
                                  const Tolerance& tolerance, const AccuracyQuestion& question);

// The same of every output. Figures and claim are those of the first that can be compared; each of the others
// is judged by what its kind is guessed to be, and one that fails makes the whole fail. `reference` may be
// null.
result::Correctness judge_all(const ComparedOutputs& outputs, const ComparedOutputs* reference,
                              const Tolerance& tolerance, const AccuracyQuestion& question);

// After the timed loop: one output only, against `tolerance`, by its errors.
result::Correctness compare_outputs(const ComparedRows& outputs, const ComparedRows& reference,
                                    const Tolerance& tolerance);

// The same of every output that has a reference: `limits` are one an output, empty: `tolerance` for all. The
// figures are those of the first that fails, else of the first.
result::Correctness compare_all(const ComparedOutputs& outputs, const ComparedOutputs& reference,
                                std::span<const Tolerance> limits, const Tolerance& tolerance);

}  // namespace paceline::workload
