// SPDX-License-Identifier: MIT
#include "workload/inference/accuracy_gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "stats/proportion.h"
#include "workload/inference/accuracy.h"

namespace paceline::workload {
namespace {

using result::AccuracyClaim;
using result::Correctness;

constexpr double kNearlyAlways = 0.95;  // an answer as frequent as that says nothing about the input
constexpr double kNearlyAlike = 0.99;   // nor do scores of which as much is common to all inputs

std::string percent(double value) {
  return fmt::format("{:.3g} %", value * 100);
}

// Bounds stand beside the limit that they are compared with: 0.4997 % is not 0.5 %.
std::string bound_percent(double value) {
  return fmt::format("{:.4g} %", value * 100);
}

void add_detail(Correctness& c, const std::string& text) {
  c.detail += (c.detail.empty() ? "" : "; ") + text;
}

// Shape and finiteness; false: there is nothing to compare.
bool comparable(Correctness& c, const ComparedRows& outputs, const ComparedRows* reference) {
  c.samples = outputs.samples;
  if (!outputs.finite) add_detail(c, "the output holds NaN or infinity");
  if (reference && !same_shape(outputs, *reference))
    add_detail(c, fmt::format("output shape {} differs from the reference's {} (inputs, rows, length)",
                              shape_text(outputs), shape_text(*reference)));
  return c.detail.empty();
}

void judge_errors(Correctness& c, const Tolerance& tolerance) {
  if (*c.max_rel_err > tolerance.max_rel_err && *c.max_abs_err > tolerance.max_abs_err)
    add_detail(c, fmt::format("max error {:.3g} exceeds {:.3g}", *c.max_rel_err, tolerance.max_rel_err));
  if (c.centred_cosine && *c.centred_cosine < tolerance.centred_cosine)
    add_detail(
        c, fmt::format("centred cosine {:.6f} is below {:.6f}", *c.centred_cosine, tolerance.centred_cosine));
}

const result::Estimate& agreement(const Correctness& c) {
  return c.answers == "tokens" ? c.next_token : c.top1;
}

double changed(const Correctness& c) {
  return (1 - *agreement(c).value) * static_cast<double>(c.samples);
}

// Missed only where chance does not explain it: the lower bound is above the limit.
void judge_answers(Correctness& c, double limit) {
  const auto n = static_cast<double>(c.samples);
  if (stats::binomial_lower(changed(c), n, kClaimAlpha) <= limit) return;
  const auto& same = agreement(c);
  add_detail(c,
             fmt::format("the {} changes for {} ({}–{}) of {} inputs, more than the {} accepted",
                         c.answers == "tokens" ? "next token" : "top-1 answer", percent(1 - *same.value),
                         percent(1 - *same.ci_high), percent(1 - *same.ci_low), c.samples, percent(limit)));
}

// Why the answers cannot decide; empty where they can.
std::string answers_mean_nothing(const ComparedRows& reference, const AccuracyQuestion& question) {
  if (!question.trained)
    return "random weights answer nearly alike to every input: top-1 and cosine mean nothing, the centred "
           "cosine "
           "decides";
  if (question.answers == "none") return "the output holds no class scores";
  if (const double most = most_frequent_answer(reference); most > kNearlyAlways)
    return fmt::format("the reference gives the same answer to {} of the inputs: top-1 means nothing",
                       percent(most));
  if (const double common = common_share(reference); common > kNearlyAlike)
    return fmt::format(
        "{} of the reference's scores is common to all inputs, as with random weights: top-1 means nothing",
        percent(common));
  return {};
}

void choose_judge(Correctness& c, const ComparedRows& reference, const AccuracyQuestion& question) {
  c.judged_because = answers_mean_nothing(reference, question);
  c.judged_by = c.judged_because.empty() ? "answers" : "outputs";
  if (c.judged_because.empty()) c.judged_because = "trained weights, class scores";
}

void judge(Correctness& c, const Tolerance& tolerance, const AccuracyQuestion& question) {
  const bool answers = c.judged_by == "answers";
  if (answers) {
    c.max_changed_tolerance = question.max_changed;
    judge_answers(c, question.max_changed);
  }
  if (answers && !question.outputs_decide_too) return;
  c.max_rel_err_tolerance = tolerance.max_rel_err;
  c.centred_cosine_tolerance = tolerance.centred_cosine;
  judge_errors(c, tolerance);
}

std::string inputs_text(std::int64_t samples, const AccuracyQuestion& question) {
  const std::string few = samples < question.samples_asked
                              ? fmt::format(" (distinct ones; {} asked for)", question.samples_asked)
                              : "";
  return fmt::format("{} inputs{}", samples, few);
}

// What would carry the claim at the share seen so far.
void say_what_is_needed(AccuracyClaim& claim, double share) {
  if (const auto needed = stats::trials_for_upper(share, *claim.limit, kClaimAlpha); needed > 0) {
    claim.inputs_needed = needed;
    claim.detail += fmt::format("; {} distinct inputs {} carry the claim (--accuracy-samples {})", needed,
                                share > 0 ? "with that share" : "without a change", needed);
  } else {
    claim.inputs_needed = result::Count::missing("no number of inputs carries it at this share");
    claim.detail += "; at that share no number of inputs carries the claim";
  }
}

void decide(AccuracyClaim& claim, double at_least, double at_most) {
  claim.bound = at_most;
  claim.verdict = at_most < *claim.limit ? "passed" : at_least >= *claim.limit ? "failed" : "cannot_claim";
}

AccuracyClaim claim_about_answers(const Correctness& c, const AccuracyQuestion& question) {
  AccuracyClaim claim;
  claim.limit = question.claim;
  claim.basis = "answers";
  const auto n = static_cast<double>(c.samples);
  const double k = changed(c);
  const double at_least = stats::binomial_lower(k, n, kClaimAlpha),
               at_most = stats::binomial_upper(k, n, kClaimAlpha);
  decide(claim, at_least, at_most);
  claim.detail = fmt::format("the {} changes for {} of {}, which {} {} (95 %, one-sided)",
                             c.answers == "tokens" ? "next token" : "top-1 answer", percent(k / n),
                             inputs_text(c.samples, question),
                             claim.verdict == "failed" ? "means at least" : "allows up to",
                             bound_percent(claim.verdict == "failed" ? at_least : at_most));
  if (claim.verdict == "cannot_claim") say_what_is_needed(claim, k / n);
  return claim;
}

// A gain is no failure: what is bounded is the loss. Below the number of inputs that the exact binomial needs
// without any change, the score interval promises too much.
AccuracyClaim claim_about_labels(const Correctness& c, const AccuracyQuestion& question) {
  AccuracyClaim claim;
  claim.limit = question.claim;
  claim.basis = "labels";
  const auto n = static_cast<double>(c.samples);
  const stats::PairedCounts pairs{static_cast<double>(*c.labelled.lost),
                                  static_cast<double>(*c.labelled.gained), n};
  const double loss = (pairs.lost - pairs.gained) / n;
  const double at_least = -stats::paired_change_upper(pairs, kClaimAlpha);
  const double exact_floor = stats::binomial_upper(0, n, kClaimAlpha);
  const double at_most = std::max(-stats::paired_change_lower(pairs, kClaimAlpha), exact_floor);
  decide(claim, at_least, at_most);
  claim.detail = fmt::format(
      "top-1 accuracy goes from {} to {} on {} ({} lost, {} gained), which {} {} (95 %, one-sided)",
      percent(*c.labelled.reference_top1.value), percent(*c.labelled.top1.value),
      inputs_text(c.samples, question), *c.labelled.lost, *c.labelled.gained,
      claim.verdict == "failed" ? "means a loss of at least" : "allows a loss of up to",
      bound_percent(claim.verdict == "failed" ? at_least : at_most));
  if (claim.verdict == "cannot_claim") say_what_is_needed(claim, std::max(0.0, loss));
  return claim;
}

AccuracyClaim no_claim(const AccuracyQuestion& question, const std::string& why) {
  AccuracyClaim claim;
  claim.limit = question.claim;
  claim.verdict = "cannot_claim";
  claim.bound = result::Number::missing(why);
  claim.inputs_needed = result::Count::missing(why);
  claim.detail = why;
  return claim;
}

AccuracyClaim decide_claim(const Correctness& c, const ComparedRows* reference,
                           const AccuracyQuestion& question) {
  if (question.claim <= 0) return {};
  if (!reference) return no_claim(question, "there is no reference to compare with");
  if (question.trained && !question.labels.empty()) return claim_about_labels(c, question);
  if (c.judged_by != "answers")
    return no_claim(question,
                    answers_mean_nothing(*reference, question) + "; give trained weights and real inputs");
  return claim_about_answers(c, question);
}

}  // namespace

Correctness compare_outputs(const ComparedRows& outputs, const ComparedRows& reference,
                            const Tolerance& tolerance) {
  Correctness c;
  c.checked = true;
  c.judged_by = "outputs";
  c.max_rel_err_tolerance = tolerance.max_rel_err;
  c.centred_cosine_tolerance = tolerance.centred_cosine;
  if (!comparable(c, outputs, &reference)) return c;
  measure_agreement(c, outputs, reference, "none");
  judge_errors(c, tolerance);
  c.passed = c.detail.empty();
  return c;
}

Correctness judge_outputs(const ComparedRows& outputs, const ComparedRows* reference,
                          const Tolerance& tolerance, const AccuracyQuestion& question) {
  Correctness c;
  c.inputs = question.inputs;
  c.samples_asked = question.samples_asked;
  const bool sound = comparable(c, outputs, reference);
  c.checked = reference != nullptr || !sound;
  if (!sound) return c;
  if (!question.labels.empty())
    c.labelled = measure_labelled(outputs, reference, question.labels, question.labels_file);
  if (reference) {
    measure_agreement(c, outputs, *reference, question.answers);
    choose_judge(c, *reference, question);
    judge(c, tolerance, question);
  }
  c.claim = decide_claim(c, reference, question);
  if (c.claim.verdict == "failed")
    add_detail(c, fmt::format("top-1 changes by {} or more: {}", percent(*c.claim.limit), c.claim.detail));
  c.passed = c.checked && c.detail.empty();
  return c;
}

}  // namespace paceline::workload
