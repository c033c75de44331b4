// SPDX-License-Identifier: MIT
#include "analysis/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/case_query.h"
#include "analysis/closing_sentence.h"
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
  std::string text = fmt::format("{} does {} {}/s on average with {}", one.benchmark.model,
                                 format_rate(*one.throughput.per_s.value), one.throughput.item,
                                 describe_without(one.benchmark, "model"));
  if (may_claim(one.speedup) && !one.speedup.no_size.empty())
    text += fmt::format(" ({} than its baseline)", one.speedup.verdict.words());
  else if (may_claim(one.speedup))
    text += fmt::format(" (its median is {} times as fast as its baseline's, {})",
                        format_significant(*one.speedup.ratio.value), format_range_of(one.speedup.ratio));
  return text + (one.grade == result::Grade::kC ? ", grade C" : "");
}

}  // namespace

std::string counts_text(const RunResult& run) {
  const auto measured = std::count_if(run.cases.begin(), run.cases.end(), is_ok);
  std::string text = fmt::format("{} of {} cases measured", measured, run.cases.size());
  const std::string grades = grades_text(run);
  return grades.empty() ? text : text + " (" + grades + ")";
}

std::vector<std::string> headline(const RunResult& run) {
  std::vector<std::string> lines;
  const auto begun = unfinished_text(run);
  const bool unfinished = !begun.empty();
  if (unfinished) lines.push_back(begun);
  for (const auto& line : split(closing_sentence(run), '\n'))
    if (!line.empty()) lines.push_back(line);
  if (lines.size() > (unfinished ? 1U : 0U)) return lines;
  std::vector<std::string> best;
  for (const CaseResult* one : fastest_by_model(run))
    if (best.size() < kModelsNamed) best.push_back(best_text(*one));
  if (!best.empty())
    lines.push_back(join(best, "; ") + ".");
  else if (std::ranges::none_of(run.cases, is_ok))
    lines.emplace_back("No case gave a valid number.");
  else if (leaves_faults_out(run))
    lines.emplace_back("No case without a fault gave a valid number.");
  return lines;
}

}  // namespace paceline::analysis
