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

// Share of the elements that are equal.
double equal_share(const ComparedRows& a, const ComparedRows& b);

// Share of the boxes of either side that have a counterpart on the other, whatever the order; the smaller
// one.
double found_boxes(const ComparedRows& a, const ComparedRows& b);

}  // namespace paceline::workload
