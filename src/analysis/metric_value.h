// SPDX-License-Identifier: MIT
#pragma once
#include "result/metric_table.h"

namespace paceline::analysis {

// A metric of a case as reports and gates read it: a case that did not run has no counts of 0, but a reason.
result::MetricValue metric_value(const result::Metric& metric, const result::CaseResult& one);

// Whether a metric carries an interval when everything was measured.
bool carries_interval(const result::Metric& metric);

}  // namespace paceline::analysis
