// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <span>

#include "result/stored/case_result.h"
#include "workload/inference/gate/compared_rows.h"

// Computes how far outputs are from a reference: figures, no judgement (accuracy_gate.h). Formulas and
// readings: docs/metrics.md, "Accuracy".
namespace paceline::workload {

// Fills the figures of `c`: errors, cosines, and for classes and tokens agreement with intervals and KL.
// Shapes must be equal (same_shape) and values finite. Samples must differ from each other: each is one
// observation.
void measure_agreement(result::Correctness& c, const ComparedRows& outputs, const ComparedRows& reference,
                       const std::string& answers);

// Top-1 accuracy of both against labels, one label per sample, and its paired change; `reference` may be
// null. Throws Error(kData) for a label outside the classes.
result::LabelledAccuracy measure_labelled(const ComparedRows& outputs, const ComparedRows* reference,
                                          std::span<const std::int64_t> labels, const std::string& file);

bool same_shape(const ComparedRows& a, const ComparedRows& b);
std::string shape_text(const ComparedRows& rows);  // "[8, 1, 1000]"

// How many rows have each answer.
std::map<std::int64_t, std::int64_t> answer_counts(const ComparedRows& rows);

// Share of the rows whose answer is the most frequent one; 1 when every row has the same answer.
double most_frequent_answer(const ComparedRows& rows);

// How much of the rows is the same for every sample: energy of the mean over samples relative to that of all,
// each row's own mean removed (softmax does not see it). Near 1 where weights are random; 1 for rows that
// hold nothing.
double common_share(const ComparedRows& rows);

}  // namespace paceline::workload
