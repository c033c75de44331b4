// SPDX-License-Identifier: MIT
#pragma once
#include "result/metric_table.h"

namespace paceline::analysis {

// The value of a metric of a case, for reports and gates. A case that did not run has a reason, not counts of
// 0.
result::MetricValue metric_value(const result::Metric& metric, const result::CaseResult& one);

}  // namespace paceline::analysis
