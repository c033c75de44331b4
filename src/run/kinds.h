// SPDX-License-Identifier: MIT
// Every kind of workload in one table.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "run/case/kind.h"
#include "run/case/kind_rules.h"

namespace paceline::run {

// The kinds of the cases of a run, each made once.
class Kinds {
 public:
  explicit Kinds(const KindTools& tools);

  [[nodiscard]] KindInRun& of(const config::Case& c) const { return *kinds_.at(c.kind); }
  // Each of them with its cases among `all`, in the order of the table.
  [[nodiscard]] std::vector<std::pair<KindInRun*, std::vector<CaseRun*>>> with_cases(CaseRuns& all) const;

 private:
  std::map<config::WorkloadKind, std::unique_ptr<KindInRun>> kinds_;
};

// Warns, before anything runs, of options without effect, and of what the kinds know of their cases. `hosts`:
// of the launch.
void report_remarks(const config::Plan& plan, const std::vector<config::Case>& cases,
                    const EngineDirectory& engines, int hosts, RunObserver& observer);

// Rough time of all passes of a case in seconds; 0 for one that cannot run.
double estimated_seconds(const config::Case& c, const Pace& pace = {});

}  // namespace paceline::run
