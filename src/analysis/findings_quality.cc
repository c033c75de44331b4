// SPDX-License-Identifier: MIT
// Findings about failures, grades, precisions that did not run, and convergence.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "analysis/case_query.h"
#include "analysis/trained_cases.h"
#include "base/text.h"
#include "base/units.h"
#include "result/figures/peak_memory.h"
#include "result/figures/summarize.h"
#include "result/judged/reasons.h"
#include "result/stored/executed_precision.h"

namespace paceline::analysis {
namespace {

using result::Outcome;

constexpr double kExpectedShare = 0.9;        // of the FLOPs in the precision that was asked for
constexpr double kNotableShare = 0.01;        // of the FLOPs in float, from which layers are named
constexpr double kSpreadFactor = 2;           // spread between processes over the spread inside one
constexpr double kProcessSpreadFloor = 0.02;  // smaller differences are not worth a warning

template <typename Predicate>
Cases cases_where(const RunResult& run, Predicate predicate) {
  Cases found;
  for (const CaseResult& one : run.cases)
    if (predicate(one)) found.push_back(&one);
  return found;
}

std::vector<std::string> ids_of(const Cases& cases) {
  std::vector<std::string> ids;
  for (const CaseResult* one : cases) ids.push_back(one->case_id);
  return ids;
}

constexpr std::string_view kTrainAnew =
    "The training has left its checkpoints, so that the same again would measure nothing: start a new run "
    "with another --checkpoint.dir.";

constexpr std::string_view kMeasureAgain = "Measure again with: ";

// How to measure those cases again that can be; where none can, what to do instead.
std::string rerun_advice(const RunResult& run, const Cases& cases) {
  Cases rerun;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(rerun),
               [](const CaseResult* one) { return measures_again(*one); });
  if (rerun.empty()) return std::string(kTrainAnew);
  return std::string(kMeasureAgain) + rerun_with_baselines(run, ids_of(rerun));
}

// True when a repetition would end the same way, because the mistake is in what was asked for.
bool repeats_itself(const CaseResult& one) {
  const bool diverged = traits_of(one.benchmark.kind).trains && one.reason_code == "error";
  return diverged || result::reason_of(one.reason_code).again == result::Again::kAfterChange ||
         one.lacks_reference;
}

// Advice for a failed case. Measuring again does not help while the cause persists.
std::string cure_of(const RunResult& run, const CaseResult& one) {
  if (repeats_itself(one)) return {};
  if (is_traced(one))
    return "See its steps until then: paceline profile --from " + shell_word(run_folder(run));
  const auto& reason = result::reason_of(one.reason_code);
  if (reason.again == result::Again::kAsItIs)
    return std::string(kMeasureAgain) + rerun_command(run, {one.case_id});
  const bool again = reason.again == result::Again::kAfterCure;
  return std::string(reason.cure) + (again ? rerun_command(run, {one.case_id}) : "");
}

std::string reasons_of(const Cases& cases) {
  std::vector<std::string> parts;
  for (const CaseResult* one : cases) parts.push_back(one->label + ": " + join(one->grade_reasons, ", "));
  return join(parts, "; ");
}

Findings graded(const RunResult& run, result::Grade grade, std::string_view meaning) {
  const Cases cases =
      cases_where(run, [&](const CaseResult& one) { return is_ok(one) && one.grade == grade; });
  if (cases.empty()) return {};
  return {finding_about(
      cases, fmt::format("{} {}: {}.", plural(std::ssize(cases), "case"), meaning, list_labels(cases)),
      reasons_of(cases), rerun_advice(run, cases))};
}

std::string_view family(std::string_view precision) {
  if (precision.starts_with("amp_")) precision.remove_prefix(4);
  return precision;
}

// Share of the FLOPs that ran as asked; 1 when the engine cannot tell, and for a file's own precision.
double share_as_asked(const CaseResult& one) {
  if (one.precision.executed.empty() || one.precision.asked == kOwnPrecision) return 1;
  double share = 0;
  for (const auto& executed : one.precision.executed)
    if (executed.precision == family(one.precision.asked)) share += executed.flops_share;
  return share;
}

double share_in_float(const CaseResult& one) {
  double share = 0;
  for (const auto& group : one.precision.in_float) share += group.flops_share;
  return share;
}

// Whether the layer was excluded when the file was made.
bool excluded(const CaseResult& one, const std::string& layer) {
  return std::ranges::any_of(one.model_file.quantisation.excluded, [&](const std::string& name) {
    return name == layer || name.starts_with(layer + "/");
  });
}

// "2 of 16 matrix products ran in fp32 (12 % of the FLOPs), because the weights are computed: 'fc1' …".
std::string float_layers_text(const CaseResult& one, const result::FloatLayers& group) {
  const std::string reason = excluded(one, group.first) ? "quantisation.exclude names them" : group.reason;
  return fmt::format(
      "{} of {} ran in {} ({} of the FLOPs){}{}", group.layers, plural(group.of, group.kind), group.precision,
      format_percent(group.flops_share, 0), reason.empty() ? "" : ", because " + reason,
      group.first.empty() ? "" : fmt::format(": '{}'{}", group.first, group.layers > 1 ? " …" : ""));
}

bool spreads(const CaseResult& one) {
  const auto& [scope, p50, within, between] = one.headline;
  return is_ok(one) && within && between && *between > kProcessSpreadFloor &&
         *between > kSpreadFactor * *within;
}

}  // namespace

Findings find_failed_cases(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (one.outcome != Outcome::kFailed || one.reason_code == "accuracy") continue;
    found.push_back(finding_about(
        {&one}, as_sentence(fmt::format("{} failed ({}): {}", one.label, one.reason_code, one.reason)),
        one.log_tail.empty() ? "no log" : "the last lines of its log are shown with the case",
        cure_of(run, one)));
  }
  return found;
}

Findings find_precision_fallback(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || share_as_asked(one) >= kExpectedShare) continue;
    std::vector<std::string> ran;
    for (const auto& executed : one.precision.executed)
      ran.push_back(format_percent(executed.flops_share, 0) + " in " + result::executed_text(executed));
    found.push_back(finding_about({&one},
                                  fmt::format("{} asked for {}, but its FLOPs ran {}.", one.label,
                                              one.precision.asked, join(ran, ", ")),
                                  one.precision.source, "Read this case as the precision that ran."));
  }
  return found;
}

Findings find_narrow_weights(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (one.outcome == Outcome::kSkipped) continue;
    for (const auto& executed : one.precision.executed) {
      if (executed.weights.empty() || executed.flops_share < kNotableShare) continue;
      const bool rounds = executed.precision == "int8";
      found.push_back(finding_about(
          {&one},
          fmt::format("{} ran {} of its FLOPs in {} on {} weights.", one.label,
                      format_percent(executed.flops_share, 0), executed.precision, executed.weights),
          one.precision.source,
          rounds ? "Activations are rounded to 8 bits; --precision fp32 keeps them in float." : ""));
    }
  }
  return found;
}

Findings find_float_layers(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (one.outcome == Outcome::kSkipped || share_in_float(one) < kNotableShare) continue;
    std::vector<std::string> groups, advice;
    for (const auto& group : one.precision.in_float) {
      groups.push_back(float_layers_text(one, group));
      if (!group.advice.empty() && std::find(advice.begin(), advice.end(), group.advice) == advice.end())
        advice.push_back(group.advice);
    }
    if (advice.empty()) advice.emplace_back("Compare with the same case in fp32, or with another engine.");
    found.push_back(finding_about({&one}, fmt::format("{}: {}.", one.label, join(groups, "; ")),
                                  one.precision.source, join(advice, " ")));
  }
  return found;
}

Findings find_invalid_cases(const RunResult& run) {
  return graded(run, result::Grade::kC, "of grade C, not valid for latency claims");
}

Findings find_noisy_cases(const RunResult& run) {
  return graded(run, result::Grade::kB, "of grade B");
}

Findings find_not_converged(const RunResult& run) {
  const Cases cases = cases_where(run, inconclusive);
  if (cases.empty()) return {};
  std::vector<std::string> unmet;
  for (const CaseResult* one : cases)
    for (const auto& repetition : one->repetitions)
      for (const std::string& condition : repetition.unmet)
        if (std::find(unmet.begin(), unmet.end(), condition) == unmet.end()) unmet.push_back(condition);
  const bool six_asked = std::ranges::all_of(
      cases, [](const CaseResult* one) { return one->repetitions_planned >= kPairsForClaim; });
  return {
      finding_about(cases,
                    fmt::format("{} stopped before the interval was as narrow as asked: {}.",
                                plural(std::ssize(cases), "case"), list_labels(cases)),
                    "unmet: " + join(unmet, "; "),
                    fmt::format("Six processes give an interval between processes: {}. Or measure again with "
                                "a longer stop.t_max_s.",
                                six_asked ? resume_command(run)
                                          : rerun_with_baselines(run, ids_of(cases)) + " --repetitions 6"))};
}

Findings find_process_spread(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : cases_where(run, spreads))
    found.push_back(finding_about(
        {one},
        fmt::format("{} differs {} from process to process, but only {} within one.", one->label,
                    format_percent(*one->headline.between_spread),
                    format_percent(*one->headline.within_spread)),
        "relative spread of the per-process medians against that inside a process",
        "Read the interval over processes; more repetitions narrow it, more iterations do not."));
  return found;
}

Findings find_above_peak(const RunResult& run) {
  const Cases cases = cases_where(run, [](const CaseResult& one) {
    return is_ok(one) && !one.flops.share_of_measured_peak && result::above_measured_peak(one.flops);
  });
  if (cases.empty()) return {};
  return {finding_about(
      cases,
      fmt::format("{} above the measured peak of this machine, so no share of it is shown: {}.",
                  plural(std::ssize(cases), "case"), list_labels(cases)),
      "peak: " + cases.front()->flops.peak_source,
      result::on_device(cases.front()->benchmark)
          ? "Believe the latency: the algorithm needs fewer operations than are counted, or the GPU was "
            "slower "
            "when its peak was measured; to measure it again, delete its entry in peaks.json."
          : "Believe the latency: the peak was measured again, and the algorithm needs fewer operations "
            "than are counted.")};
}

Findings find_skipped_cases(const RunResult& run) {
  std::map<std::string, Cases> by_reason;
  for (const CaseResult& one : run.cases)
    if (one.outcome == Outcome::kSkipped) by_reason[one.reason].push_back(&one);
  Findings found;
  for (const auto& [reason, cases] : by_reason)
    found.push_back(finding_about(
        cases,
        fmt::format("{} {}: {} ({}).", plural(std::ssize(cases), "case"),
                    cases.front()->reason_code == result::kNotMeasured ? "not measured" : "skipped", reason,
                    list_labels(cases)),
        "reason code " + cases.front()->reason_code, ""));
  return found;
}

}  // namespace paceline::analysis
