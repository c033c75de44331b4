// SPDX-License-Identifier: MIT
#include "workload/precision_limits.h"

#include <algorithm>

namespace paceline::workload {

std::string dominant_precision(const result::PrecisionReadBack& read_back) {
  const auto& executed = read_back.executed;
  const auto most = std::max_element(executed.begin(), executed.end(), [](const auto& a, const auto& b) {
    return a.flops_share < b.flops_share;
  });
  return most == executed.end() ? std::string() : most->precision;
}

void use_limits(pass::PassSpec& spec, const std::string& precision) {
  const auto row = std::find_if(spec.limits.begin(), spec.limits.end(),
                                [&](const auto& limits) { return limits.precision == precision; });
  if (row == spec.limits.end()) return;
  spec.tolerance = row->tolerance;
  spec.accuracy.max_changed = row->max_changed;
  spec.accuracy.outputs_decide_too = row->outputs_decide_too;
  spec.accuracy.needs_evidence = row->needs_evidence;
}

}  // namespace paceline::workload
