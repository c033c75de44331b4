// SPDX-License-Identifier: MIT
// Findings about what is faster or slower, and where nothing may be claimed.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/case_query.h"
#include "analysis/cpu_features.h"
#include "analysis/findings.h"
#include "analysis/memory_saving.h"
#include "analysis/ratio_verdict.h"
#include "base/units.h"
#include "result/stored/executed_precision.h"

namespace paceline::analysis {
namespace {

std::string pairs_text(const result::SpeedUp& speedup) {
  return fmt::format("{} process pairs", speedup.pairs);
}

// "53 % faster than eager (49–57 %, 6 process pairs)"; a factor from 2 on.
std::string faster_text(const result::SpeedUp& speedup, const std::string& other) {
  const auto& ratio = speedup.ratio;
  if (!speedup.no_size.empty())
    return fmt::format("faster than {} ({}){}", other, pairs_text(speedup), without_size(speedup.no_size));
  if (*ratio.value >= 2)
    return fmt::format("{}x as fast as {} ({}, {})", format_significant(*ratio.value), other,
                       format_range_of(ratio), pairs_text(speedup));
  return fmt::format("{} % faster than {} ({}–{} %, {})", format_fixed((*ratio.value - 1) * 100, 0), other,
                     format_fixed((*ratio.ci_low - 1) * 100, 0), format_fixed((*ratio.ci_high - 1) * 100, 0),
                     pairs_text(speedup));
}

// ", with 18 % less memory" where the processes of the two cases do not overlap.
std::string memory_text(const CaseResult& one, const CaseResult& baseline) {
  const auto less = memory_saving(one, baseline), more = memory_saving(baseline, one);
  if (less && less->share >= kMemoryChange)
    return fmt::format(", with {} % less memory", format_fixed(less->share * 100, 0));
  const double extra = more ? 1 / (1 - more->share) - 1 : 0;
  return extra >= kMemoryChange ? fmt::format(", with {} % more memory", format_fixed(extra * 100, 0)) : "";
}

std::string evidence_of(const CaseResult& one, const CaseResult& baseline) {
  std::string text;
  if (one.headline.p50_ns.value && baseline.headline.p50_ns.value)
    text = fmt::format("p50 {} against {}", format_duration_ns(*one.headline.p50_ns.value),
                       format_duration_ns(*baseline.headline.p50_ns.value));
  for (const auto& executed : one.precision.executed)
    text += fmt::format("; {} ran {} of the FLOPs in {} operators", result::executed_text(executed),
                        format_percent(executed.flops_share, 0), executed.operators);
  if (one.correctness.centred_cosine)
    text += fmt::format("; centred cosine {:.5g}", *one.correctness.centred_cosine);
  return text;
}

Finding about(const Comparison& pair, std::string text, std::string advice = {}) {
  Finding finding;
  finding.text = std::move(text);
  finding.evidence = evidence_of(*pair.one, *pair.baseline);
  finding.advice = std::move(advice);
  finding.about = {pair.one->case_id, pair.baseline->case_id};
  return finding;
}

std::vector<Comparison> claimed(const RunResult& run, std::string_view axis, result::Speed verdict) {
  std::vector<Comparison> pairs = comparisons(run, axis);
  std::erase_if(pairs, [&](const Comparison& pair) {
    return !may_claim(pair.one->speedup) || pair.one->speedup.verdict != verdict;
  });
  return pairs;
}

Findings speedups(const RunResult& run, std::string_view axis) {
  Findings found;
  for (const Comparison& pair : claimed(run, axis, result::Speed::kFaster))
    found.push_back(
        about(pair, fmt::format("{} makes {} {}{}.", axis_value(pair.one->benchmark, axis),
                                describe_without(pair.one->benchmark, axis),
                                faster_text(pair.one->speedup, axis_value(pair.baseline->benchmark, axis)),
                                memory_text(*pair.one, *pair.baseline))));
  return found;
}

std::string slower_text(const Comparison& pair, std::string_view axis) {
  if (const auto& speedup = pair.one->speedup; !speedup.no_size.empty())
    return fmt::format("{} is slower than {} for {} here ({}){}", axis_value(pair.one->benchmark, axis),
                       axis_value(pair.baseline->benchmark, axis),
                       describe_without(pair.one->benchmark, axis), pairs_text(speedup),
                       without_size(speedup.no_size));
  return fmt::format("{} is {}x of {} for {} here ({}, {}): slower", axis_value(pair.one->benchmark, axis),
                     format_significant(*pair.one->speedup.ratio.value, 2),
                     axis_value(pair.baseline->benchmark, axis), describe_without(pair.one->benchmark, axis),
                     format_range(*pair.one->speedup.ratio.ci_low, *pair.one->speedup.ratio.ci_high, 2),
                     pairs_text(pair.one->speedup));
}

Findings slowdowns(const RunResult& run, std::string_view axis) {
  Findings found;
  for (const Comparison& pair : claimed(run, axis, result::Speed::kSlower))
    found.push_back(about(pair, slower_text(pair, axis) + ".",
                          fmt::format("Use {} here.", axis_value(pair.baseline->benchmark, axis))));
  return found;
}

// Advises to run both sides again where they ran at different times.
std::string claim_advice(const RunResult& run, const std::vector<const CaseResult*>& cases) {
  const auto& s = cases.front()->speedup;
  const auto needed = pairs_for_claim(s.ratio.confidence);
  if (s.pairs_apart > 0 && s.pairs < needed && measures_again(*cases.front())) {
    std::vector<std::string> ids;
    for (const CaseResult* one : cases) ids.push_back(one->case_id);
    return "Measure both sides together: " + rerun_with_baselines(run, ids);
  }
  if (!s.no_size.empty()) return "Measure again while other processes leave the CPUs alone.";
  return fmt::format("Run the plan again with --repetitions {}.", needed);
}

}  // namespace

Findings find_precision_speedup(const RunResult& run) {
  return speedups(run, "precision");
}
Findings find_engine_speedup(const RunResult& run) {
  return speedups(run, "engine");
}
Findings find_engine_slowdown(const RunResult& run) {
  return slowdowns(run, "engine");
}

Findings find_precision_slowdown(const RunResult& run) {
  Findings found;
  for (const Comparison& pair : claimed(run, "precision", result::Speed::kSlower)) {
    const std::string why = missing_precision_support(run.environment, pair.one->benchmark.precision);
    const std::string text = slower_text(pair, "precision") + (why.empty() ? "." : "; " + why + ".");
    const bool fp32 = pair.baseline->benchmark.precision == "fp32" && !why.empty();
    const std::string instead = fp32 ? "fp32 or int8" : pair.baseline->benchmark.precision;
    found.push_back(about(pair, text, fmt::format("Use {} on this machine.", instead)));
  }
  return found;
}

Findings find_setting_effect(const RunResult& run) {
  Findings found;
  for (const std::string_view axis : {"layout", "threads", "params"}) {
    for (Finding& finding : speedups(run, axis)) found.push_back(std::move(finding));
    for (Finding& finding : slowdowns(run, axis)) found.push_back(std::move(finding));
  }
  return found;
}

// Speed-ups that may not be claimed, one finding per reason.
Findings find_no_claim(const RunResult& run) {
  std::map<std::string, std::vector<const CaseResult*>> by_reason;
  for (const CaseResult& one : run.cases)
    if (const auto reason = no_claim_reason(one); !reason.empty()) by_reason[reason].push_back(&one);
  Findings found;
  for (const auto& [reason, cases] : by_reason) {
    Finding finding;
    finding.text = fmt::format("No claim about {} over {} baseline: {}: {}.",
                               cases.size() == 1 ? "the speed-up" : "the speed-ups",
                               cases.size() == 1 ? "its" : "their", reason, list_labels(cases));
    finding.evidence = fmt::format(
        "the same command can differ by tens of percent from process to process and from hour to hour; a "
        "claim needs {} pairs of processes that ran in turns",
        pairs_for_claim(cases.front()->speedup.ratio.confidence));
    finding.advice = claim_advice(run, cases);
    for (const CaseResult* one : cases) finding.about.push_back(one->case_id);
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace paceline::analysis
