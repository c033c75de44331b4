// SPDX-License-Identifier: MIT
// Findings about wrong outputs, claims that cannot be made, and what a precision costs.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "base/text.h"
#include "base/units.h"
#include "result/judged/reference.h"

namespace paceline::analysis {
namespace {

using result::Correctness;
using result::Estimate;
using result::Outcome;
using result::OutputDoubt;

std::string percent(double share) {
  const double value = share * 100;
  return value < 10 ? fmt::format("{:.2g} %", value) : fmt::format("{} %", format_fixed(value, 0));
}

std::string case_words(const CaseResult& one) {
  return describe_without(one.benchmark, "precision");
}

Finding about(const CaseResult& one, std::string text, std::string advice = {}) {
  const Correctness& c = one.correctness;
  return {"",
          "",
          std::move(text),
          fmt::format("{} distinct inputs ({}), reference: {}", c.samples, c.inputs, c.reference),
          std::move(advice),
          {one.case_id}};
}

// Whether the plan names a file of expected outputs or a float model.
bool own_reference(const CaseResult& one) {
  const auto& config = one.config_effective;
  if (!config.is_object() || !config.contains("accuracy.reference")) return false;
  const auto& asked = config.at("accuracy.reference");
  return asked.is_string() && asked.get_ref<const std::string&>().find_first_of("./:") != std::string::npos;
}

std::string changed_answers_text(const CaseResult& one) {
  const Correctness& c = one.correctness;
  const bool tokens = c.answers == "tokens";
  const Estimate& same = tokens ? c.next_token : c.top1;
  const std::string what = tokens ? "next token" : "top-1 answer";
  const std::string upper = percent(1 - *same.ci_low);
  if (*same.value == 1)  // says whose: a float file of the user's is another model than the case's
    return fmt::format("{} keeps every {} of {} on {} inputs; up to {} may still change.",
                       one.benchmark.precision, what, own_reference(one) ? c.reference : case_words(one),
                       c.samples, upper);
  return fmt::format("{} changes the {} of {} for {} ({}–{}) of {} inputs.", one.benchmark.precision, what,
                     case_words(one), percent(1 - *same.value),
                     fmt::format("{:.2g}", (1 - *same.ci_high) * 100), upper, c.samples);
}

std::string labels_text(const CaseResult& one) {
  const auto& labelled = one.correctness.labelled;
  return fmt::format(
      "{} changes the top-1 accuracy of {} by {:+.2g} points ({:+.2g} to {:+.2g}) on {} labelled inputs: {} "
      "lost, {} gained.",
      one.benchmark.precision, case_words(one), *labelled.change.value * 100, *labelled.change.ci_low * 100,
      *labelled.change.ci_high * 100, one.correctness.samples, *labelled.lost, *labelled.gained);
}

bool answers_judged(const CaseResult& one) {
  const Correctness& c = one.correctness;
  return is_ok(one) && c.judged_by == "answers" && (c.top1.ci_low || c.next_token.ci_low);
}

// Where fp32, the file's own precision or given outputs disagree, another precision does not help.
std::string cure_of(const CaseResult& one) {
  if (one.benchmark.precision == "fp32" || one.precision.asked == kOwnPrecision || own_reference(one))
    return {};
  if (one.correctness.generated_inputs)
    return "The inputs were random numbers. Check with real ones (--load-inputs NAME:FILE, --image-dir "
           "FOLDER), use another precision, or state a tolerance you can accept in the plan.";
  return "Use another precision for this model, or state a tolerance you can accept in the plan.";
}

// False in fp32 as long as nothing changes, and for a case that was compared with itself.
bool worth_telling(const CaseResult& one) {
  const Correctness& c = one.correctness;
  if (!result::has_independent_reference(c)) return false;
  return one.benchmark.precision != "fp32" || c.top1_agreement != Number(1.0);
}

}  // namespace

Findings find_accuracy_failures(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (one.outcome != Outcome::kFailed || one.reason_code != "accuracy") continue;
    const std::string detail = one.correctness.detail.empty() ? one.reason : one.correctness.detail;
    found.push_back(
        {"",
         "",
         fmt::format("{} fails its accuracy check, so no number is shown: {}.", one.label, detail),
         "reference: " + one.correctness.reference,
         cure_of(one),
         {one.case_id}});
  }
  return found;
}

namespace {

// Whether more inputs are there than were compared.
bool may_compare_more(const result::Correctness& found) {
  return found.samples_given && *found.samples_given > found.samples;
}

}  // namespace

std::string output_doubt(const CaseResult& one, const std::string& outputs) {
  const auto doubt = result::check_remark(one).doubt;
  if (doubt == OutputDoubt::kNone) return {};
  if (one.correctness.needs_inputs)
    return fmt::format("; whether {} are good enough needs your inputs (--load-inputs, --calib-data)",
                       outputs);
  return doubt == OutputDoubt::kNotChecked ? fmt::format("; {} are unchecked", outputs)
         : doubt == OutputDoubt::kUndecided
             ? fmt::format("; the check cannot say whether {} are right", outputs)
             : fmt::format("; no other engine confirms {}", outputs);
}

// Cases of which the same is not known share a finding.
Findings find_unknown_accuracy(const RunResult& run) {
  std::map<std::pair<OutputDoubt, std::string>, Cases> by_remark;
  for (const CaseResult& one : run.cases)
    if (const auto [doubt, why] = result::check_remark(one);
        doubt == OutputDoubt::kUndecided || doubt == OutputDoubt::kNotChecked)
      by_remark[{doubt, why}].push_back(&one);
  Findings found;
  for (const auto& [remark, cases] : by_remark) {
    const auto& [doubt, why] = remark;
    const bool unchecked = doubt == OutputDoubt::kNotChecked;
    const auto text = unchecked ? fmt::format("The outputs of {} are unchecked: {}", list_labels(cases), why)
                                : fmt::format("The check cannot say whether the outputs of {} are right: {}",
                                              list_labels(cases), why);
    found.push_back(finding_about(
        cases, as_sentence(text), fmt::format("reference: {}", cases.front()->correctness.reference),
        unchecked ? "Compare with expected outputs or another engine: --accuracy-reference."
        : cases.front()->correctness.needs_inputs ? "Give real inputs: --load-inputs, --calib-data."
        : may_compare_more(cases.front()->correctness)
            ? "Compare more of the inputs that are there."
            : "Give inputs that the outputs depend on (--load-inputs), or expected outputs "
              "(--accuracy-reference FILE)."));
  }
  return found;
}

Findings find_unclaimed_accuracy(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    const auto& claim = one.correctness.claim;
    if (!is_ok(one) || claim.verdict != answer::Verdict::kCannotSay) continue;
    found.push_back(
        about(one, fmt::format("{}: that top-1 changes by less than {:g} % cannot be claimed: {}.", one.label,
                               *claim.limit * 100, claim.detail)));
  }
  return found;
}

Findings find_accuracy_change(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (is_ok(one) && one.correctness.labelled.change.ci_low && worth_telling(one))
      found.push_back(about(one, labels_text(one)));
    if (answers_judged(one) && worth_telling(one)) found.push_back(about(one, changed_answers_text(one)));
  }
  return found;
}

}  // namespace paceline::analysis
