// SPDX-License-Identifier: MIT
#pragma once
#include "result/metric_table.h"

namespace paceline::analysis {

// Reads a metric of a case for reports and gates: a case that did not run has a reason, not zero counts.
result::MetricValue metric_value(const result::Metric& metric, const result::CaseResult& one);

// True for figures that a disturbed machine does not spoil: ratios over pairs, sizes, results of checks.
bool outlives_noise(const result::Metric& metric);

}  // namespace paceline::analysis
