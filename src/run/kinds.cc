// SPDX-License-Identifier: MIT
#include "run/kinds.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "base/error.h"
#include "config/idle_options.h"
#include "run/collective/collective_kind.h"
#include "run/collective/collective_results.h"
#include "run/inference/inference_kind.h"
#include "run/inference/inference_results.h"
#include "run/training/training_kind.h"
#include "run/training/training_results.h"

namespace paceline::run {
namespace {

struct KindRow {
  config::WorkloadKind kind;
  const KindRules& (*rules)();
  std::unique_ptr<KindInRun> (*make)(const KindTools&);
};

constexpr std::array kKinds{
    KindRow{config::WorkloadKind::kInference, inference_rules, make_inference},
    KindRow{config::WorkloadKind::kTraining, training_rules, make_training},
    KindRow{config::WorkloadKind::kCollective, collective_rules, make_collective},
};

}  // namespace

const KindRules& kind_rules(config::WorkloadKind kind) {
  const auto row = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& r) { return r.kind == kind; });
  if (row == kKinds.end()) throw Error(ErrorCode::kInternal, "a kind of workload without a row in run/kinds");
  return row->rules();
}

Kinds::Kinds(const KindTools& tools) {
  for (const auto& c : tools.setup.cases)
    for (const auto& row : kKinds)
      if (row.kind == c.kind && !kinds_.contains(c.kind)) kinds_.emplace(c.kind, row.make(tools));
}

std::vector<std::pair<KindInRun*, std::vector<CaseRun*>>> Kinds::with_cases(CaseRuns& all) const {
  std::vector<std::pair<KindInRun*, std::vector<CaseRun*>>> groups;
  for (const auto& row : kKinds) {
    const auto kind = kinds_.find(row.kind);
    if (kind == kinds_.end()) continue;
    groups.push_back({kind->second.get(), {}});
    for (auto& c : all)
      if (c.definition.kind == row.kind) groups.back().second.push_back(&c);
  }
  return groups;
}

void report_remarks(const config::Plan& plan, const std::vector<config::Case>& cases,
                    const EngineDirectory& engines, int hosts, RunObserver& observer) {
  std::set<std::string> told;
  for (const auto& row : kKinds) {
    const auto& rules = row.rules();
    for (const auto& words : config::without_effect(plan, cases, row.kind, rules.auto_device(engines)))
      observer.warning("no effect here: " + words);
    for (const auto& c : cases) {
      if (c.kind != row.kind || !c.not_available.empty()) continue;
      if (const auto words = rules.warning(c, engines, hosts); !words.empty() && told.insert(words).second)
        observer.warning(words);
    }
  }
}

double estimated_seconds(const config::Case& c, const Pace& pace) {
  return c.not_available.empty() ? kind_rules(c.kind).seconds(c, pace) : 0;
}

}  // namespace paceline::run
