// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/findings.h"
#include "result/figures/training_limits.h"
#include "result/stored/benchmark_params.h"

// Cases that findings about training are about.
namespace paceline::analysis {

using result::Training;

inline std::vector<const CaseResult*> trained(const RunResult& run) {
  std::vector<const CaseResult*> cases;
  for (const CaseResult& one : run.cases)
    if (is_ok(one) && one.training()) cases.push_back(&one);
  return cases;
}

inline const Training& training_of(const CaseResult& one) {
  return *one.training();
}

inline Finding about_training(const CaseResult& one, std::string text, std::string evidence,
                              std::string advice) {
  return finding_about({&one}, std::move(text), std::move(evidence), std::move(advice));
}

using result::kPipeline;
using result::kSharded;
using result::kTraces;
using result::kUnwrapped;
using result::kWithWaiting;
inline bool is_traced(const CaseResult& one) {
  return one.benchmark.params.contains(kTraces);
}

inline bool is_with_waiting(const CaseResult& one) {
  return one.benchmark.params.contains(kWithWaiting);
}

// Cases whose figure is at least the limit, the largest first.
inline std::vector<const CaseResult*> above(const RunResult& run, Number Training::*figure, double limit) {
  auto cases = trained(run);
  std::erase_if(cases, [&](const CaseResult* one) {
    const auto& value = training_of(*one).*figure;
    return !value || *value < limit;
  });
  std::stable_sort(cases.begin(), cases.end(), [&](const CaseResult* a, const CaseResult* b) {
    return *(training_of(*a).*figure) > *(training_of(*b).*figure);
  });
  return cases;
}

// The wait for a straggler is part of what looks like communication.
inline bool names_straggler(const CaseResult& one) {
  return result::has_straggler(training_of(one));
}

}  // namespace paceline::analysis
