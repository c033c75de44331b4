// SPDX-License-Identifier: MIT
#include "run/compare_cases.h"

#include <map>

#include "result/noise_rules.h"
#include "result/summarize.h"

namespace paceline::run {

void compare_to_baselines(std::vector<CaseRun>& cases, const std::vector<std::string>& resumed_utc) {
  std::map<std::string, const CaseRun*> by_id;
  for (const auto& c : cases) by_id.emplace(c.definition.id, &c);
  for (auto& c : cases) {
    if (!c.definition.baseline_id || c.result.repetitions.empty()) continue;
    const auto base = by_id.find(*c.definition.baseline_id);
    if (base == by_id.end()) continue;
    result::compare_to_baseline(c.result, base->second->result, c.definition.settings.number("confidence"),
                                result::smallest_difference(result::profile_of(c.result)), resumed_utc);
  }
}

}  // namespace paceline::run
