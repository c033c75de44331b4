// SPDX-License-Identifier: MIT
#pragma once
#include <span>

#include "pass/accuracy_spec.h"
#include "result/stored/case_result.h"
#include "workload/inference/gate/compared_outputs.h"
#include "workload/inference/gate/compared_rows.h"

// Turns figures of accuracy into verdicts. Rules and where they are from: docs/methodology.md, "Accuracy".
namespace paceline::workload {

// Compares and judges one output: by which rule (by answers where weights are trained and the answers differ
// from input to input, else by values), whether it is within the limits, and the claim. With a null
// `reference` only shape and finiteness are checked, and nothing can be claimed.
result::Correctness judge_outputs(const ComparedRows& outputs, const ComparedRows* reference,
                                  const pass::Tolerance& tolerance, const pass::AccuracyQuestion& question);

// Judges every output. Figures and claim are those of the first that can be compared; each of the others is
// judged by the kind it is guessed to be, and one failure makes the whole fail. `reference` may be null.
result::Correctness judge_all(const ComparedOutputs& outputs, const ComparedOutputs* reference,
                              const pass::Tolerance& tolerance, const pass::AccuracyQuestion& question);

// The check after the timed loop: the errors of one output against `tolerance`.
result::Correctness compare_outputs(const ComparedRows& outputs, const ComparedRows& reference,
                                    const pass::Tolerance& tolerance);

// Compares every output that has a reference. `limits` holds one limit per output; empty: `tolerance` for
// all. The figures are those of the first that fails, else of the first.
result::Correctness compare_all(const ComparedOutputs& outputs, const ComparedOutputs& reference,
                                std::span<const pass::Tolerance> limits, const pass::Tolerance& tolerance);

}  // namespace paceline::workload
