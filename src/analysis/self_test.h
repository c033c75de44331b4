// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "answer/answer.h"
#include "result/stored/run_result.h"

// Judges whether the findings about a training name the fault that was injected into it.
namespace paceline::analysis {

struct SelfTestRow {
  std::string case_id;
  std::string injected;  // a slow rank 1 (slow=30ms:rank=1); nothing
  std::string named;     // in the same words; nothing
  bool right = false;
};

// A row for each case, in their order. The bottleneck whose cost is highest beyond that of the same training
// without a fault, or highest where that was not measured, should be the injected one. Without a fault no
// rank may be named; a case that failed is wrong. `findings`: of the run.
std::vector<SelfTestRow> judge_self_test(const result::RunResult& run,
                                         const std::vector<result::Finding>& findings);

// A check per case, which fails with exit code 1.
answer::Answer self_test_answer(const std::vector<SelfTestRow>& rows);

}  // namespace paceline::analysis
