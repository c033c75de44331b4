// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "analysis/finding_table.h"
#include "support/sample_runs.h"

namespace paceline::analysis {

// Today's findings of one rule.
inline std::vector<result::Finding> of_kind(const result::RunResult& run, const std::string& id) {
  auto found = find_all(run);
  std::erase_if(found, [&](const result::Finding& finding) { return finding.id != id; });
  return found;
}

// Two quiet cases of equal speed: nothing to warn about and nothing to claim.
inline result::RunResult quiet_run() {
  result::RunResult run;
  run.experiment_name = "quiet";
  run.run_id = "r1";
  run.cases = {::paceline::testing::case_of({"resnet50", "eager", "fp32", 1, 50, 300}),
               ::paceline::testing::case_of({"resnet50", "torchscript", "fp32", 1, 50, 300})};
  run.cases[1].speedup.baseline_case_id = run.cases[0].case_id;
  return run;
}

}  // namespace paceline::analysis
