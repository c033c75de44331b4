// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "base/units.h"

// Findings about the profile of a training step.
namespace paceline::analysis {
namespace {

using result::OperatorProfile;

constexpr double kMuchOfAStep = 0.20;

const OperatorProfile* operator_profile_of(const CaseResult& one) {
  const auto& all = one.operator_profile;
  return is_ok(one) && !all.empty() && all.front().steps && !all.front().top.empty() ? &all.front() : nullptr;
}

double largest_share(const CaseResult& one) {
  const auto* profile = operator_profile_of(one);
  return profile ? profile->top.front().share.value().value_or(0) : 0;
}

// A profiler slows steps down, so the share refers to profiled steps.
result::Finding top_operator_of(const CaseResult& one) {
  const auto& profile = *operator_profile_of(one);
  const auto& row = profile.top.front();
  const auto steps = static_cast<double>(*profile.steps);
  result::Finding finding;
  finding.text = fmt::format("{}: {} takes {} of a profiled step by itself.", one.label, row.name,
                             format_percent(*row.share));
  finding.evidence = fmt::format("{} in {} calls a step", format_duration_ns(*row.self_ns / steps),
                                 format_count(static_cast<double>(row.calls) / steps));
  if (profile.of_timed)
    finding.evidence += fmt::format("; a profiled step took {:.2f} times a timed one", *profile.of_timed);
  finding.case_ids = {one.case_id};
  return finding;
}

}  // namespace

Findings find_top_operators(const result::RunResult& run) {
  std::vector<const CaseResult*> cases;
  for (const CaseResult& one : run.cases)
    if (largest_share(one) >= kMuchOfAStep) cases.push_back(&one);
  std::stable_sort(cases.begin(), cases.end(), [](const CaseResult* a, const CaseResult* b) {
    return largest_share(*a) > largest_share(*b);
  });
  Findings found;
  for (const CaseResult* one : cases) found.push_back(top_operator_of(*one));
  return found;
}

}  // namespace paceline::analysis
