// SPDX-License-Identifier: MIT
#include "run/compare_cases.h"

#include <algorithm>

#include "result/noise_rules.h"
#include "result/summarize.h"
#include "result/training_scaling.h"

namespace paceline::run {
namespace {

void compare_to_baselines(std::vector<CaseRun>& cases, const std::vector<std::string>& resumed_utc) {
  for (auto& c : cases) {
    if (!c.definition.baseline_id || c.result.repetitions.empty()) continue;
    const auto base = std::find_if(cases.begin(), cases.end(), [&](const CaseRun& b) {
      return b.definition.id == *c.definition.baseline_id;
    });
    if (base == cases.end()) continue;
    result::compare_to_baseline(c.result, base->result, c.definition.settings.number("confidence"),
                                result::smallest_difference(result::profile_of(c.result)), resumed_utc);
  }
}

void compare_worlds(std::vector<CaseRun>& cases, const std::vector<std::string>& resumed_utc) {
  std::vector<result::CaseResult*> worlds;
  for (auto& c : cases)
    if (c.trains() && !c.result.repetitions.empty()) worlds.push_back(&c.result);
  result::compare_scaling(worlds, resumed_utc);
}

}  // namespace

void compare_cases(std::vector<CaseRun>& cases, const std::vector<std::string>& resumed_utc) {
  compare_worlds(cases, resumed_utc);
  compare_to_baselines(cases, resumed_utc);
}

}  // namespace paceline::run
