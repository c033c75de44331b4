// SPDX-License-Identifier: MIT
#pragma once
#include "result/case_result.h"
#include "workload/inference/compared_rows.h"
#include "workload/inference/output_kind.h"

// Figures of one output beside those of accuracy.h, each of which one bad element cannot decide. Formulas:
// docs/metrics.md, "Accuracy".
namespace paceline::workload {

inline constexpr double kErrorQuantile = 0.98;
inline constexpr double kBoxDistance = 0.02;  // of the largest coordinate: so near, a box is the same

// Scale (standard deviation of the reference's elements, at least a thousandth of the largest) and quantile
// of the errors; `scale` above 0 is taken instead of the reference's own.
void measure_quantile_error(result::OutputAgreement& output, const ComparedRows& a, const ComparedRows& b,
                            double scale);

// Share of the elements that are equal. Where an input has several, and one value fills more than half of
// the reference `b`, that is padding or background: elements that have it on both sides are left out.
double equal_share(const ComparedRows& a, const ComparedRows& b);

// Share of the boxes of either side that have a counterpart on the other, whatever the order; the smaller
// one. Boxes that fill more than half of the reference `b` are padding and left out. Of the numbers behind
// the coordinates (scores, classes) a column of whole numbers must be equal, and the others may differ by
// `max_rel_err` of the largest.
double found_boxes(const ComparedRows& a, const ComparedRows& b, double max_rel_err);

}  // namespace paceline::workload
