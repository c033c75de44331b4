// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "result/metric_topics.h"

namespace paceline::result {

enum class Better { kLower, kHigher, kNeither };

struct MetricValue {
  std::optional<double> value, ci_low, ci_high;
  std::string reason;      // when value is absent
  bool at_least = false;   // a lower bound: nothing is known above it
  bool estimated = false;  // it has an interval if enough was measured
};

// One row of the table of metrics, from which schema, CSV and report columns, gates and docs/reference
// derive.
struct Metric {
  std::string_view name;   // as in CSV and gates, unit at the end: p50_ms
  std::string_view title;  // column head
  std::string_view unit;
  Better better;
  std::string_view meaning;  // one sentence
  const Topic& topic;
  MetricValue (*get)(const CaseResult&);
  [[nodiscard]] bool concerns(const CaseResult& one) const {
    return topic.concerns == nullptr || topic.concerns(one);
  }
};

std::span<const Metric> metrics();
const Metric* find_metric(std::string_view name);

}  // namespace paceline::result
