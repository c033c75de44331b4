// SPDX-License-Identifier: MIT
#include "workload/inference/gate/accuracy_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "result/judged/reference.h"
#include "stats/proportion.h"
#include "workload/inference/gate/accuracy.h"
#include "workload/inference/gate/output_errors.h"
#include "workload/inference/gate/output_kind.h"
#include "workload/inference/gate/output_rules.h"

namespace paceline::workload {
namespace {

using result::AccuracyClaim;
using result::Correctness;
using result::OutputAgreement;

constexpr double kNearlyAlways = 0.95;  // an answer this frequent says nothing about the input
constexpr double kNearlyAlike = 0.99;   // nor do scores that are this much the same for all inputs

std::string percent(double value) {
  return fmt::format("{:.3g} %", value * 100);
}

// Bounds get one more digit, because they stand beside their limit: 0.4997 % is not 0.5 %.
std::string bound_percent(double value) {
  return fmt::format("{:.4g} %", value * 100);
}

std::string label_of(const std::string& name, std::size_t number) {
  return name.empty() ? fmt::format("output {}", number) : fmt::format("output '{}'", name);
}

bool holds_answers(const OutputKind& kind) {
  return kind.kind == kClasses || kind.kind == kTokens;
}

void add_detail(Correctness& c, const std::string& text) {
  c.detail += (c.detail.empty() ? "" : "; ") + text;
}

// Checks shape and finiteness; false when nothing can be compared.
bool comparable(Correctness& c, const ComparedRows& outputs, const ComparedRows* reference) {
  c.samples = outputs.samples;
  if (!outputs.finite) add_detail(c, "the output contains NaN or infinity");
  if (reference && !same_shape(outputs, *reference))
    add_detail(c, fmt::format("output shape {} differs from the reference's {} (inputs, rows, length)",
                              shape_text(outputs), shape_text(*reference)));
  return c.detail.empty();
}

// Describes the output that the figures of `c` belong to, as far as they tell.
OutputAgreement begin_output(const Correctness& c, const ComparedRows& rows, const OutputKind& kind) {
  OutputAgreement output;
  output.name = rows.name;
  output.kind = kind.kind;
  output.because = kind.because;
  output.max_rel_err = c.max_rel_err;
  output.max_abs_err = c.max_abs_err;
  output.cosine = c.cosine;
  output.centred_cosine = c.centred_cosine;
  return output;
}

const result::Estimate& agreement(const Correctness& c) {
  return c.answers == "tokens" ? c.next_token : c.top1;
}

double changed(const Correctness& c) {
  return (1 - *agreement(c).value) * static_cast<double>(c.samples);
}

// A limit is missed only where chance does not explain it: the lower bound is above the limit.
void judge_answers(Correctness& c, double limit) {
  const auto n = static_cast<double>(c.samples);
  if (stats::binomial_lower(changed(c), n, kClaimAlpha) <= limit) return;
  const auto& same = agreement(c);
  add_detail(
      c, fmt::format(
             "the {} changes for {} ({}–{}) of {} inputs, more than the {} accepted (--accuracy.max_changed)",
             c.answers == "tokens" ? "next token" : "top-1 answer", percent(1 - *same.value),
             percent(1 - *same.ci_high), percent(1 - *same.ci_low), c.samples, percent(limit)));
}

// A class that the reference predicts and the case never: more than its share of the accepted changes.
void judge_lost_classes(Correctness& c, const ComparedRows& outputs, const ComparedRows& reference,
                        double limit) {
  if (c.answers != "classes") return;
  const auto before = answer_counts(reference), after = answer_counts(outputs);
  const double alpha = kClaimAlpha / static_cast<double>(before.size());
  for (const auto& [answer, inputs] : before) {
    const auto n = static_cast<double>(inputs);
    if (after.contains(answer) || stats::binomial_lower(n, n, alpha) <= limit) continue;
    add_detail(c, fmt::format("class {} is never predicted any more; the reference predicts it for {} of {} "
                              "inputs (--accuracy.max_changed)",
                              answer, inputs, c.samples));
  }
}

// With so few inputs a share of changed answers beyond the limit would go unseen.
std::string too_few_inputs(const Correctness& c, const pass::AccuracyQuestion& question) {
  const double limit = question.max_changed;
  const auto n = static_cast<double>(c.samples);
  const double at_most = stats::binomial_upper(changed(c), n, kClaimAlpha);
  if (at_most <= limit) return {};
  const auto more =
      question.samples_given > c.samples
          ? fmt::format("compare more of those given (--accuracy-samples {})", question.samples_given)
          : std::string("give more (--load-inputs, --image-dir)");
  return fmt::format("{} inputs allow up to {} changed answers, more than the {} accepted: {}", c.samples,
                     bound_percent(at_most), percent(limit), more);
}

double part_of_answers(const Correctness& c, double limit) {
  const double share = 1 - *agreement(c).value;
  return limit > 0 ? share / limit : share;
}

// Why the answers cannot decide; empty where they can.
std::string answers_mean_nothing(const ComparedRows& reference, const pass::AccuracyQuestion& question,
                                 const OutputKind& kind) {
  if (!question.trained)
    return "random weights answer nearly alike to every input: top-1 and cosine mean nothing, the centred "
           "cosine decides";
  if (!holds_answers(kind)) return "the output contains no class scores";
  if (question.generated) return "the inputs are random numbers: answers to them mean nothing";
  if (const double most = most_frequent_answer(reference); most > kNearlyAlways)
    return fmt::format("the reference gives the same answer to {} of the inputs: top-1 means nothing",
                       percent(most));
  if (const double common = common_share(reference); common > kNearlyAlike)
    return fmt::format(
        "{} of the reference's scores is common to all inputs, as with random weights: top-1 means nothing",
        percent(common));
  return {};
}

void choose_judge(Correctness& c, const ComparedRows& reference, const pass::AccuracyQuestion& question,
                  const OutputKind& kind) {
  c.judged_because = answers_mean_nothing(reference, question, kind);
  c.judged_by = c.judged_because.empty() ? "answers" : "outputs";
  if (c.judged_because.empty()) c.judged_because = "trained weights, class scores";
}

// Why nothing decides about what eight bits cost these outputs; empty: the limits do.
std::string format_is_unknown(const ComparedRows& reference, const pass::AccuracyQuestion& question) {
  if (question.generated)
    return "the inputs are generated: whether its answers hold needs yours (--load-inputs, --calib-data)";
  if (!question.trained)
    return "the weights are random: what eight bits cost says nothing about trained ones";
  if (const double depends = rms_of_what_depends(reference), step = eight_bit_step(reference); depends < step)
    return fmt::format(
        "only {:.2g} of the output depends on the input, less than one step of eight bits "
        "({:.2g})",
        depends, step);
  return {};
}

// The fixed limits decide about eight bits only where the inputs say something. Of a file that is compared
// with itself only the engine is judged (check_samples.h).
void leave_the_format_open(JudgedOutput& judged, const ComparedRows& reference,
                           const pass::AccuracyQuestion& question) {
  if (!question.eight_bits || !question.expected_file.empty()) return;
  const auto unknown = question.is_own_run ? std::string() : format_is_unknown(reference, question);
  if (unknown.empty() && !question.is_own_run) return;
  if (question.is_own_run) judged.output.judged_by = "engine";
  judged.output.detail.clear();
  judged.output.blind = unknown;
  judged.output.needs_inputs = question.generated && !question.is_own_run;
  judged.limits = {};
  judged.part_of_limit = 0;
}

// Judges by the answers, and where they alone cannot decide, by what the output's kind is judged by.
JudgedOutput judge(Correctness& c, const ComparedRows& outputs, const ComparedRows& reference,
                   const pass::Tolerance& tolerance, const pass::AccuracyQuestion& question,
                   const OutputKind& kind) {
  JudgedOutput judged{begin_output(c, outputs, kind), 0};
  const bool answers = c.judged_by == "answers";
  if (answers) {
    c.max_changed_tolerance = question.max_changed;
    judge_answers(c, question.max_changed);
    judge_lost_classes(c, outputs, reference, question.max_changed);
    if (question.needs_evidence && !question.is_own_run) judged.output.blind = too_few_inputs(c, question);
    judged.output.judged_by = c.judged_by;
    judged.part_of_limit = part_of_answers(c, question.max_changed);
  }
  if (!answers || question.outputs_decide_too) {
    judge_output(judged, outputs, reference, tolerance, question.max_changed);
    if (!answers) leave_the_format_open(judged, reference, question);
    c.max_rel_err_tolerance = judged.limits.max_rel_err;
    c.centred_cosine_tolerance = judged.limits.centred_cosine;
    c.quantile_err_tolerance = judged.limits.quantile_err;
    if (judged.limits.max_changed) c.max_changed_tolerance = judged.limits.max_changed;
    if (!judged.output.detail.empty()) add_detail(c, judged.output.detail);
  }
  judged.output.detail = c.detail;
  judged.output.passed = c.detail.empty();
  return judged;
}

std::string inputs_text(std::int64_t samples, const pass::AccuracyQuestion& question) {
  const std::string few = samples < question.samples_asked
                              ? fmt::format(" (distinct ones; {} asked for)", question.samples_asked)
                              : "";
  return fmt::format("{} inputs{}", samples, few);
}

// Says how many inputs the claim needs at the shares seen so far; 0: no number is enough.
void state_needed_samples(AccuracyClaim& claim, std::int64_t needed, bool any_changed) {
  if (needed > 0) {
    claim.inputs_needed = needed;
    claim.detail += fmt::format("; {} distinct inputs {} carry the claim (--accuracy-samples {})", needed,
                                any_changed ? "with that share" : "without a change", needed);
  } else {
    claim.inputs_needed = Count::missing("no number of inputs carries it at this share");
    claim.detail += "; at that share no number of inputs carries the claim";
  }
}

void decide(AccuracyClaim& claim, double at_least, double at_most) {
  claim.bound = at_most;
  claim.verdict = at_most < *claim.limit     ? answer::Verdict::kYes
                  : at_least >= *claim.limit ? answer::Verdict::kNo
                                             : answer::Verdict::kCannotSay;
}

AccuracyClaim claim_about_answers(const Correctness& c, const pass::AccuracyQuestion& question) {
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
                             claim.verdict == answer::Verdict::kNo ? "means at least" : "allows up to",
                             bound_percent(claim.verdict == answer::Verdict::kNo ? at_least : at_most));
  if (claim.verdict == answer::Verdict::kCannotSay)
    state_needed_samples(claim, stats::trials_for_upper(k / n, question.claim, kClaimAlpha), k > 0);
  return claim;
}

// A gain is no failure: only the loss is bounded.
AccuracyClaim claim_about_labels(const Correctness& c, const pass::AccuracyQuestion& question) {
  AccuracyClaim claim;
  claim.limit = question.claim;
  claim.basis = "labels";
  const auto n = static_cast<double>(c.samples);
  const stats::PairedCounts pairs{static_cast<double>(*c.labelled.lost),
                                  static_cast<double>(*c.labelled.gained), n};
  const double at_least = -stats::paired_change_upper(pairs, kClaimAlpha);
  const double at_most = stats::loss_upper(pairs, kClaimAlpha);
  decide(claim, at_least, at_most);
  claim.detail = fmt::format(
      "top-1 accuracy goes from {} to {} on {} ({} lost, {} gained), which {} {} (95 %, one-sided)",
      percent(*c.labelled.reference_top1.value), percent(*c.labelled.top1.value),
      inputs_text(c.samples, question), *c.labelled.lost, *c.labelled.gained,
      claim.verdict == answer::Verdict::kNo ? "means a loss of at least" : "allows a loss of up to",
      bound_percent(claim.verdict == answer::Verdict::kNo ? at_least : at_most));
  if (claim.verdict == answer::Verdict::kCannotSay)
    state_needed_samples(claim, stats::trials_for_loss(pairs, question.claim, kClaimAlpha),
                         pairs.lost + pairs.gained > 0);
  return claim;
}

AccuracyClaim no_claim(const pass::AccuracyQuestion& question, const std::string& why) {
  AccuracyClaim claim;
  claim.limit = question.claim;
  claim.verdict = answer::Verdict::kCannotSay;
  claim.bound = Number::missing(why);
  claim.inputs_needed = Count::missing(why);
  claim.detail = why;
  return claim;
}

AccuracyClaim decide_claim(const Correctness& c, const ComparedRows* reference,
                           const pass::AccuracyQuestion& question) {
  if (question.claim <= 0) return {};
  if (!reference) return no_claim(question, "there is no reference to compare with");
  if (question.trained && !question.labels.empty()) return claim_about_labels(c, question);
  if (c.judged_by != "answers")
    return no_claim(question, c.judged_because + "; give trained weights and real inputs");
  return claim_about_answers(c, question);
}

// An output that nothing changes is no reason for doubt beside others that were seen to change.
const OutputAgreement* unseen_output(const Correctness& c) {
  const bool seen = std::ranges::any_of(
      c.outputs, [](const auto& output) { return !output.judged_by.empty() && output.blind.empty(); });
  const auto it = std::ranges::find_if(c.outputs, [&](const auto& output) {
    return !output.blind.empty() && !(seen && output.layer_ulps == Number(0.0));
  });
  return it == c.outputs.end() ? nullptr : &*it;
}

void decide_verdict(Correctness& c) {
  const auto* unseen = unseen_output(c);
  c.verdict = !c.checked          ? answer::Verdict::kNotAsked
              : !c.detail.empty() ? answer::Verdict::kNo
              : unseen            ? answer::Verdict::kCannotSay
                                  : answer::Verdict::kYes;
  c.passed = c.verdict == answer::Verdict::kYes;
  if (c.verdict != answer::Verdict::kCannotSay) return;
  c.verdict_because =
      fmt::format("{}: {}", label_of(unseen->name, static_cast<std::size_t>(unseen - c.outputs.data()) + 1),
                  unseen->blind);
  c.needs_inputs = unseen->needs_inputs;
}

struct JudgedOne {
  Correctness correctness;
  double part_of_limit = 0;
};

JudgedOne judge_one(const ComparedRows& outputs, const ComparedRows* reference,
                    const pass::Tolerance& tolerance, const pass::AccuracyQuestion& question) {
  JudgedOne one;
  Correctness& c = one.correctness;
  c.inputs = question.inputs;
  c.generated_inputs = question.generated;
  c.samples_asked = question.samples_asked;
  const bool sound = comparable(c, outputs, reference);
  c.checked = reference != nullptr || !sound;
  const OutputKind kind = kind_of(outputs, question.answers, question.answers_because);
  if (!sound) {
    c.outputs.push_back(begin_output(c, outputs, kind));
    c.outputs.back().detail = c.detail;
    decide_verdict(c);
    one.part_of_limit = std::numeric_limits<double>::infinity();
    return one;
  }
  if (!question.labels.empty())
    c.labelled = measure_labelled(outputs, reference, question.labels, question.labels_file);
  if (reference) {
    measure_agreement(c, outputs, *reference, holds_answers(kind) ? kind.kind : kNoKind);
    choose_judge(c, *reference, question, kind);
    auto judged = judge(c, outputs, *reference, tolerance, question, kind);
    one.part_of_limit = judged.part_of_limit;
    c.outputs.push_back(std::move(judged.output));
  }
  c.claim = decide_claim(c, reference, question);
  if (c.claim.verdict == answer::Verdict::kNo)
    add_detail(c, fmt::format("top-1 changes by {} or more: {}", percent(*c.claim.limit), c.claim.detail));
  decide_verdict(c);
  return one;
}

// The question for outputs after the first: labels and claims are only about the first.
pass::AccuracyQuestion about_another(pass::AccuracyQuestion question) {
  question.answers = kAutoKind;
  question.answers_because.clear();
  question.labels.clear();
  question.claim = 0;
  return question;
}

// Collects verdicts on outputs: figures of the first that can be compared, failures of all by name.
class Verdicts {
 public:
  void leave_out(const ComparedOutput& output, const std::string& why) {
    OutputAgreement left;
    left.name = output.rows.name;
    left.kind = kNoKind;
    left.because = why;
    outputs_.push_back(std::move(left));
  }
  void add_first(JudgedOne one, const ComparedOutput& output) {
    first_ = one.correctness;
    first_.detail.clear();
    add(std::move(one), output);
  }
  // An output that was compared with nothing and is finite is left out.
  void add(JudgedOne one, const ComparedOutput& output) {
    Correctness& c = one.correctness;
    if (c.outputs.empty()) leave_out(output, "there is no reference for it");
    for (auto& judged : c.outputs) outputs_.push_back(std::move(judged));
    if (!c.detail.empty())
      failures_ += fmt::format("{}{} ({}): {}", failures_.empty() ? "" : "; ", label_of_last(),
                               outputs_.back().kind, c.detail);
    if (c.outputs.empty() || one.part_of_limit < part_of_limit_) return;
    part_of_limit_ = one.part_of_limit;
    worst_ = label_of_last();
  }
  Correctness take() {
    Correctness c = std::move(first_);
    c.detail = failures_;
    c.checked = c.checked || !failures_.empty();
    c.outputs = std::move(outputs_);
    c.worst_output = worst_;
    decide_verdict(c);
    return c;
  }

 private:
  [[nodiscard]] std::string label_of_last() const { return label_of(outputs_.back().name, outputs_.size()); }

  Correctness first_;
  std::vector<OutputAgreement> outputs_;
  std::string failures_, worst_;
  double part_of_limit_ = 0;
};

// The first output that can be compared; the first output at all where none has a reference.
std::size_t first_judged(const ComparedOutputs& outputs, const ComparedOutputs* reference) {
  std::size_t there = outputs.size();
  for (std::size_t i = outputs.size(); i-- > 0;)
    if (outputs[i].left_out.empty()) there = i;
  for (std::size_t i = there; reference && i < outputs.size(); ++i)
    if (outputs[i].left_out.empty() && reference_of(*reference, outputs, i)) return i;
  return there;
}

}  // namespace

Correctness compare_outputs(const ComparedRows& outputs, const ComparedRows& reference,
                            const pass::Tolerance& tolerance) {
  Correctness c;
  c.checked = true;
  c.judged_by = "outputs";
  c.max_rel_err_tolerance = tolerance.max_rel_err;
  c.centred_cosine_tolerance = tolerance.centred_cosine;
  if (!comparable(c, outputs, &reference)) return c;
  measure_agreement(c, outputs, reference, kNoKind);
  JudgedOutput judged{begin_output(c, outputs, {tolerance.max_decides ? kNoKind : kDense, {}}), 0};
  judge_output(judged, outputs, reference, tolerance, 1);
  c.detail = judged.output.detail;
  decide_verdict(c);
  return c;
}

Correctness compare_all(const ComparedOutputs& outputs, const ComparedOutputs& reference,
                        std::span<const pass::Tolerance> limits, const pass::Tolerance& tolerance) {
  std::optional<Correctness> found;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ComparedRows* rows = reference_of(reference, outputs, i);
    if (!rows || !outputs[i].left_out.empty()) continue;
    auto c = compare_outputs(outputs[i].rows, *rows, i < limits.size() ? limits[i] : tolerance);
    if (!c.passed && outputs.size() > 1) c.detail = label_of(outputs[i].rows.name, i + 1) + ": " + c.detail;
    if (!found || !c.passed) found = std::move(c);
    if (!found->passed) break;
  }
  return found.value_or(Correctness{});
}

Correctness judge_outputs(const ComparedRows& outputs, const ComparedRows* reference,
                          const pass::Tolerance& tolerance, const pass::AccuracyQuestion& question) {
  return judge_one(outputs, reference, tolerance, question).correctness;
}

Correctness judge_all(const ComparedOutputs& outputs, const ComparedOutputs* reference,
                      const pass::Tolerance& tolerance, const pass::AccuracyQuestion& question) {
  Verdicts verdicts;
  const std::size_t first = first_judged(outputs, reference);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ComparedRows* rows = reference ? reference_of(*reference, outputs, i) : nullptr;
    if (!outputs[i].left_out.empty())
      verdicts.leave_out(outputs[i], outputs[i].left_out);
    else if (i == first)
      verdicts.add_first(judge_one(outputs[i].rows, rows, tolerance, question), outputs[i]);
    else if (rows || i < first)
      verdicts.add(judge_one(outputs[i].rows, rows, tolerance, about_another(question)), outputs[i]);
    else
      verdicts.leave_out(outputs[i], "there is no reference for it");
  }
  return verdicts.take();
}

}  // namespace paceline::workload
