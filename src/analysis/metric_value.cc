// SPDX-License-Identifier: MIT
#include "analysis/metric_value.h"

namespace paceline::analysis {

result::MetricValue metric_value(const result::Metric& metric, const result::CaseResult& one) {
  result::MetricValue value = metric.get(one);
  const bool ran = one.outcome == result::Outcome::kOk;
  if (!ran && (value.value.value_or(0) == 0 || !metric.topic.of_check))
    return {{},
            {},
            {},
            one.reason_code == result::kNotMeasured    ? "not measured"
            : one.outcome == result::Outcome::kSkipped ? "case skipped"
                                                       : "case failed"};
  return value;
}

}  // namespace paceline::analysis
