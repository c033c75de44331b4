// SPDX-License-Identifier: MIT
#include "analysis/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::analysis {
namespace {

using result::Outcome;

constexpr std::size_t kModelsNamed = 2;

std::string grades_text(const RunResult& run) {
  std::map<result::Grade, int> count;
  for (const CaseResult& one : run.cases)
    if (is_ok(one)) ++count[one.grade];
  std::vector<std::string> parts;
  for (const auto& [grade, n] : count)
    parts.push_back(fmt::format("{} of grade {}", n, "ABC"[static_cast<int>(grade)]));
  return join(parts, ", ");
}

// Cases with a fault do not speak for the machine, unless the run has no others.
bool leaves_faults_out(const RunResult& run) {
  return std::ranges::any_of(run.cases, has_fault) && !std::ranges::all_of(run.cases, has_fault);
}

// The case with the highest throughput per model, in plan order.
std::vector<const CaseResult*> fastest_by_model(const RunResult& run) {
  const bool no_faults = leaves_faults_out(run);
  std::vector<const CaseResult*> best;
  for (const CaseResult& one : run.cases) {
    if (no_faults && has_fault(one)) continue;
    if (!is_ok(one) || !one.throughput.per_s.value) continue;
    if (traits_of(one.benchmark.scenario).rate_is_offered) continue;
    const auto same = std::find_if(best.begin(), best.end(),
                                   [&](const auto* b) { return b->benchmark.model == one.benchmark.model; });
    if (same == best.end())
      best.push_back(&one);
    else if (*one.throughput.per_s.value > *(*same)->throughput.per_s.value)
      *same = &one;
  }
  return best;
}

std::string best_text(const CaseResult& one) {
  std::string text =
      fmt::format("{} does {} {}/s with {}", one.benchmark.model, format_rate(*one.throughput.per_s.value),
                  one.throughput.item, describe_without(one.benchmark, "model"));
  if (may_claim(one.speedup) && !one.speedup.no_size.empty())
    text += fmt::format(" ({} than its baseline)", one.speedup.verdict);
  else if (may_claim(one.speedup))
    text += fmt::format(" ({}x its baseline, {})", format_significant(*one.speedup.ratio.value),
                        format_range_of(one.speedup.ratio));
  return text + (one.grade == result::Grade::kC ? ", grade C" : "");
}

std::string counts_text(const RunResult& run) {
  const auto measured = std::count_if(run.cases.begin(), run.cases.end(), is_ok);
  std::string text = fmt::format("{} of {} cases measured", measured, run.cases.size());
  const std::string grades = grades_text(run);
  return grades.empty() ? text : text + " (" + grades + ")";
}

}  // namespace

std::string verdict_sentence(const RunResult& run) {
  std::vector<std::string> parts;
  for (const CaseResult* one : fastest_by_model(run))
    if (parts.size() < kModelsNamed) parts.push_back(best_text(*one));
  if (parts.empty())
    parts.push_back(leaves_faults_out(run) ? "No case without a fault gave a valid number"
                                           : "No case gave a valid number");
  parts.push_back(counts_text(run));
  const std::string unfinished = unfinished_text(run);
  return (unfinished.empty() ? "" : unfinished + ". ") + join(parts, "; ") + ".";
}

}  // namespace paceline::analysis
