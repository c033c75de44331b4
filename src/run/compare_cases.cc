// SPDX-License-Identifier: MIT
#include "run/compare_cases.h"

#include <algorithm>

#include "result/summarize.h"
#include "result/training_scaling.h"

namespace paceline::run {
namespace {

// The smallest difference that counts.
double smallest_difference(const config::Settings& settings) {
  return settings.text("profile") == "quiet" ? 0.03 : 0.05;
}

void compare_to_baselines(std::vector<CaseRun>& cases) {
  for (auto& c : cases) {
    if (!c.definition.baseline_id || c.result.repetitions.empty()) continue;
    const auto base = std::find_if(cases.begin(), cases.end(), [&](const CaseRun& b) {
      return b.definition.id == *c.definition.baseline_id;
    });
    if (base == cases.end()) continue;
    const auto& settings = c.definition.settings;
    result::compare_to_baseline(c.result, base->result, settings.number("confidence"),
                                smallest_difference(settings));
  }
}

void compare_worlds(std::vector<CaseRun>& cases) {
  std::vector<result::CaseResult*> worlds;
  for (auto& c : cases)
    if (c.trains() && !c.result.repetitions.empty()) worlds.push_back(&c.result);
  result::compare_scaling(worlds);
}

}  // namespace

void compare_cases(std::vector<CaseRun>& cases) {
  compare_worlds(cases);
  compare_to_baselines(cases);
}

}  // namespace paceline::run
