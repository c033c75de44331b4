// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "result/stored/case_result.h"
#include "workload/inference/gate/compared_rows.h"
#include "workload/inference/gate/output_kind.h"

// Computes errors of one output beside those of accuracy.h, each of which one bad element cannot decide.
// Formulas: docs/metrics.md, "Accuracy".
namespace paceline::workload {

inline constexpr double kErrorQuantile = 0.98;
inline constexpr double kBoxDistance = 0.02;  // of the largest coordinate: closer boxes are the same

// Measures scale (standard deviation of the reference's elements, at least a thousandth of the largest) and
// quantile of the errors; a `scale` above 0 replaces the reference's own.
void measure_quantile_error(result::OutputAgreement& output, const ComparedRows& a, const ComparedRows& b,
                            double scale);

// Values that are both subnormal are equal, because engines may flush them.
double difference(float a, float b);
// Root mean square of the differences.
double rms_difference(const ComparedRows& a, const ComparedRows& b);
// Mean over the samples of each element; zeros where there is one sample.
std::vector<double> mean_sample(const ComparedRows& rows);
// Root mean square of what differs between the inputs; of a single one, all of it.
double rms_of_what_depends(const ComparedRows& rows);

// Size of one step of eight bits over the range of an output.
double eight_bit_step(const ComparedRows& rows);

// Share of the elements that are equal. Where each input has several elements and one value fills more than
// half of the reference `b`, that value is padding or background: elements that have it on both sides are
// left out.
double equal_share(const ComparedRows& a, const ComparedRows& b);

// Share of the boxes on either side that have a counterpart on the other, in any order; the smaller of the
// two. Boxes that fill more than half of the reference `b` are padding and left out. Of the numbers behind
// the coordinates (scores, classes), a column of whole numbers must be equal, and the others may differ by
// `max_rel_err` of the largest.
double found_boxes(const ComparedRows& a, const ComparedRows& b, double max_rel_err);

}  // namespace paceline::workload
