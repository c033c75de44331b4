// SPDX-License-Identifier: MIT
#include "analysis/closing_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "analysis/ratio_verdict.h"
#include "base/text.h"
#include "base/units.h"
#include "result/judged/noise_rules.h"
#include "result/judged/reference.h"
#include "result/stored/benchmark_params.h"

namespace paceline::analysis {
namespace {

// Axes in which two cases may differ while an inference of either is the same work.
constexpr std::array<std::string_view, 7> kSameWork{"engine", "precision",   "layout", "threads",
                                                    "params", "timing_mode", "model"};

bool same_work(const std::vector<std::string>& axes, const CaseResult& one) {
  return traits_of(one.benchmark.scenario).one_at_a_time &&
         std::all_of(axes.begin(), axes.end(), [](const auto& axis) {
           return std::find(kSameWork.begin(), kSameWork.end(), axis) != kSameWork.end();
         });
}

// Engine and precision, and whatever else distinguishes the two; the label where that is not enough.
// `among`: cases that the sentence is about; a word that all of them share is left out.
std::pair<std::string, std::string> names_of(const CaseResult& a, const CaseResult& b,
                                             const std::vector<std::string>& axes, const Cases& among) {
  const auto name = [&](const CaseResult& one) {
    std::vector<std::string> words{one.benchmark.engine, one.benchmark.precision};
    for (const auto& axis : axes)
      if (axis != "engine" && axis != "precision" && axis != "timing_mode")
        words.push_back(axis == "params" ? differing_params(one.benchmark, among)
                                         : (axis == "batch"        ? "b"
                                            : axis == "world_size" ? "r"
                                                                   : "") +
                                               axis_value(one.benchmark, axis));
    std::erase(words, "");
    return join(words, " ");
  };
  const auto first = name(a), second = name(b);
  return first == second ? std::pair(a.label, b.label) : std::pair(first, second);
}

double kept_of(const CaseResult& one) {
  return one.correctness.top1_agreement ? *one.correctness.top1_agreement : 1;
}

// Picks the case whose answers are in question: the lower precision; within one precision the case that kept
// fewer (the other may be the reference itself).
const CaseResult& in_question(const CaseResult& a, const CaseResult& b) {
  if (a.benchmark.precision == b.benchmark.precision) return kept_of(b) < kept_of(a) ? b : a;
  return a.benchmark.precision == "fp32" ? b : a;
}

constexpr std::string_view kPasses = "; it passes the check of its outputs";

// "; it keeps 31 of 32 answers", or the name where the sentence has another subject.
std::string answers_text(const CaseResult& one, const std::string& name, bool is_subject) {
  const auto& c = one.correctness;
  if (!traits_of(one.benchmark.kind).checks_outputs) return {};
  if (auto doubt = output_doubt(one, "the outputs of " + name); !doubt.empty()) return doubt;
  const std::string who = is_subject ? "it" : name;
  if (c.judged_by != "answers" || !c.top1_agreement || c.samples <= 0)
    return is_subject ? std::string(kPasses) : fmt::format("; {} passes the check of its outputs", name);
  const auto same = std::llround(*c.top1_agreement * static_cast<double>(c.samples));
  return fmt::format("; {} keeps {} of {} answers", who, same, c.samples);
}

// About the one of two cases whose answers are in question; the first may be the subject of the sentence.
std::string answers_of(const CaseResult& a, const CaseResult& b,
                       const std::pair<std::string, std::string>& names, bool has_subject) {
  const auto& one = in_question(a, b);
  return &one == &a ? answers_text(one, names.first, has_subject) : answers_text(one, names.second, false);
}

constexpr std::string_view kBothPass = "; both pass the check of their outputs";

// Whether one clause serves for two cases of which neither leads.
bool both_pass(const CaseResult& a, const CaseResult& b) {
  return a.benchmark.precision == b.benchmark.precision && answers_text(a, {}, true) == kPasses &&
         answers_text(b, {}, true) == kPasses;
}

// One decimal fewer from 2 on: "3.7", "1.13".
std::string times(double ratio) {
  return format_significant(ratio, ratio >= 2 ? 2 : 3);
}

std::string faster_text(const std::string& name, const std::string& than, double value, double low,
                        double high) {
  return fmt::format("{} is {} times as fast as {} ({}–{})", name, times(value), than, times(low),
                     times(high));
}

// " (use --repetitions 6)" where fewer processes were asked for than a claim needs.
std::string enough_text(const CaseResult& one, double confidence) {
  const auto needed = pairs_for_claim(confidence);
  return one.repetitions_planned < needed ? fmt::format(" (use --repetitions {})", needed) : "";
}

// Empty unless only processes are missing.
std::string enough_text(const result::SpeedUp& s, const CaseResult& one) {
  const bool few = s.pairs_apart == 0 && s.pairs < pairs_for_claim(s.ratio.confidence);
  return few ? enough_text(one, s.ratio.confidence) : "";
}

// The sentence where pairs allow a direction alone.
std::string direction_sentence(const CaseResult& one, const CaseResult& base,
                               const std::pair<std::string, std::string>& names) {
  const bool first = one.speedup.verdict == result::Speed::kFaster;
  const CaseResult &fast = first ? one : base, &slow = first ? base : one;
  const auto& [name, than] = first ? names : std::pair(names.second, names.first);
  return fmt::format("{} is faster than {}{}{}.", name, than, without_size(one.speedup.no_size),
                     answers_of(fast, slow, {name, than}, true));
}

// `one` against `base`, with the pairs in its speed-up.
std::string time_sentence(const CaseResult& one, const CaseResult& base,
                          const std::vector<std::string>& axes) {
  const auto& s = one.speedup;
  const auto names = names_of(one, base, axes, {&one, &base});
  const auto& [first, second] = names;
  const auto answers = both_pass(one, base) ? std::string(kBothPass) : answers_of(one, base, names, false);
  if (const auto reason = no_claim_reason(one); !reason.empty())
    return fmt::format("Which of {} and {} is faster is not claimed: {}{}{}.", first, second, reason,
                       enough_text(s, one), answers);
  if (!s.no_size.empty()) return direction_sentence(one, base, names);
  const double low = *s.ratio.ci_low, high = *s.ratio.ci_high, value = *s.ratio.value;
  if (s.verdict == result::Speed::kFaster)
    return faster_text(first, second, value, low, high) + answers_of(one, base, names, true) + ".";
  if (s.verdict == result::Speed::kSlower)
    return faster_text(second, first, 1 / value, 1 / high, 1 / low) +
           answers_of(base, one, {second, first}, true) + ".";
  if (s.verdict == result::Speed::kEquivalent)
    return fmt::format("{} and {} are equally fast within {} (ratio {}–{}){}.", first, second,
                       format_percent(result::smallest_difference(result::profile_of(one)), 0),
                       format_fixed(low, 2), format_fixed(high, 2), answers);
  return fmt::format("Which of {} and {} is faster cannot be said (ratio {}–{}){}.", first, second,
                     format_fixed(low, 2), format_fixed(high, 2), answers);
}

// Cases whose inferences are different work are compared by their rates.
std::string rate_sentence(const RunResult& run, const CaseResult& a, const CaseResult& b,
                          const std::vector<std::string>& axes) {
  if (traits_of(a.benchmark.scenario).rate_is_offered || traits_of(b.benchmark.scenario).rate_is_offered)
    return {};
  if (!a.throughput.per_s.value || !b.throughput.per_s.value) return {};
  if (a.throughput.item != b.throughput.item) return {};  // images are not sequences
  const bool a_first = *a.throughput.per_s.value >= *b.throughput.per_s.value;
  const CaseResult &more = a_first ? a : b, &less = a_first ? b : a;
  const auto judged = judge_ratio(run, Figure::kRate, more, less);
  const auto names = names_of(more, less, axes, {&more, &less});
  const std::string unit = more.throughput.item + "/s";
  if (judged.claim == Claim::kNone)
    return fmt::format("Which of {} and {} does more {} is not claimed: {}.", names.first, names.second, unit,
                       judged.reason);
  if (!judged.no_size.empty())
    return fmt::format("{} does {} {} than {}{}{}.", names.first, judged.more() ? "more" : "fewer", unit,
                       names.second, without_size(judged.no_size), answers_of(more, less, names, true));
  if (judged.claim == Claim::kMore)
    return fmt::format("{} does {} times the {} of {} ({}){}.", names.first, times(judged.ratio->value), unit,
                       names.second, range_of(*judged.ratio), answers_of(more, less, names, true));
  const bool equal = judged.claim == Claim::kEqual;
  return fmt::format("{} and {} {} (ratio {}).", names.first, names.second,
                     equal ? fmt::format("do the same {} within {}", unit, format_percent(judged.margin, 0))
                           : fmt::format("cannot be told apart in {}", unit),
                     range_of(*judged.ratio));
}

std::string single_sentence(const CaseResult& one) {
  const bool blocks{one.back_to_back_ns.value};
  const auto& p50 = blocks ? one.back_to_back_ns : one.headline.p50_ns;
  if (!p50.value || !traits_of(one.benchmark.scenario).one_at_a_time) return {};
  const std::string range =
      p50.ci_low && p50.ci_high
          ? fmt::format(" ({})", format_duration_range_ns(*p50.ci_low, *p50.ci_high, *p50.value))
          : " (no interval)";
  const std::string rate =
      one.throughput.per_s.value
          ? fmt::format(", {} {}/s", format_rate(*one.throughput.per_s.value), one.throughput.item)
          : "";
  const std::string doubt =
      one.grade == result::Grade::kC ? "; grade C: not valid for latency claims"
      : one.headline.scope != result::kBetweenProcess
          ? fmt::format("; of {}, the next one may differ", plural(std::ssize(one.repetitions), "process"))
          : "";
  return fmt::format("{} takes {} {}{}{}{}{}.", one.label, format_duration_ns(*p50.value),
                     traits_of(one.benchmark.kind).sample, blocks ? " back to back" : "", range, rate, doubt);
}

std::string pair_sentence(const RunResult& run, const CaseResult& a, const CaseResult& b) {
  const auto axes = differing_axes(a.benchmark, b.benchmark);
  if (a.benchmark.kind != b.benchmark.kind || axes.empty()) return {};
  if (!same_work(axes, a) || !same_work(axes, b)) return rate_sentence(run, a, b, axes);
  if (a.speedup.baseline_case_id == b.case_id) return time_sentence(a, b, axes);
  if (b.speedup.baseline_case_id == a.case_id) return time_sentence(b, a, axes);
  return time_sentence(against(run, b, a), a, axes);
}

// Cases of a run that one sentence compares. With equal batches by their times, else by their rates.
struct Field {
  Cases cases;
  Figure figure = Figure::kLatency;
  std::vector<std::string> axes;  // in which they differ
  [[nodiscard]] bool by_time() const { return figure == Figure::kLatency; }
  [[nodiscard]] std::string unit() const { return cases.front()->throughput.item + "/s"; }
};

double score(const CaseResult& one, Figure figure) {
  return figure == Figure::kLatency ? *one.headline.p50_ns.value : 1 / *one.throughput.per_s.value;
}

// How many times as fast `one` is as `other`.
RatioVerdict lead(const RunResult& run, const Field& field, const CaseResult& one, const CaseResult& other) {
  return field.by_time() ? judge_ratio(run, Figure::kLatency, other, one)
                         : judge_ratio(run, Figure::kRate, one, other);
}
bool leads(const RunResult& run, const Field& field, const CaseResult& one, const CaseResult& other) {
  return lead(run, field, one, other).claim == Claim::kMore;
}

std::string name_in(const Field& field, const CaseResult& one) {
  const auto other = std::ranges::find_if(field.cases, [&](const auto* c) { return c != &one; });
  return names_of(one, **other, field.axes, field.cases).first;
}

// The case to measure the winner by: its baseline, else the next best one.
const CaseResult& rival_of(const Field& field, const CaseResult& winner) {
  const CaseResult* next = nullptr;
  for (const CaseResult* one : field.cases) {
    if (one == &winner) continue;
    if (one->case_id == winner.speedup.baseline_case_id) return *one;
    if (next == nullptr || score(*one, field.figure) < score(*next, field.figure)) next = one;
  }
  return *next;
}

std::string joined_names(const Field& field, const Cases& cases) {
  constexpr std::size_t kNamed = 2;
  std::vector<std::string> names;
  for (const CaseResult* one : cases)
    if (names.size() < kNamed) names.push_back(name_in(field, *one));
  const std::string more =
      cases.size() > kNamed ? fmt::format(" and {} more", cases.size() - kNamed) : std::string();
  return join(names, ", ") + more;
}

const CaseResult& best_of(const Field& field, const Cases& cases) {
  return **std::ranges::min_element(cases, {}, [&](const auto* c) { return score(*c, field.figure); });
}

// "1.4 times as fast as eager fp32 (1.3–1.5)"; of rates "1.4 times the images/s of eager fp32 b1 (1.3–1.5)".
std::string lead_text(const Field& field, const RatioVerdict& judged, const std::string& base) {
  if (!judged.no_size.empty())
    return (field.by_time() ? "faster than " : fmt::format("more {} than ", field.unit())) + base +
           without_size(judged.no_size);
  const std::string than = field.by_time() ? "as fast as" : fmt::format("the {} of", field.unit());
  return fmt::format("{} times {} {} ({}–{})", times(judged.ratio->value), than, base,
                     times(judged.ratio->ci.low), times(judged.ratio->ci.high));
}

// Names the FP32 result where the winner has a lower precision.
std::string exact_text(const RunResult& run, const Field& field, const CaseResult& winner,
                       const CaseResult& base) {
  Cases exact = field.cases;
  std::erase_if(exact, [](const auto* one) { return one->benchmark.precision != "fp32"; });
  if (winner.benchmark.precision == "fp32" || exact.empty()) return {};
  const CaseResult& best = best_of(field, exact);
  if (&best == &base) return {};
  const auto judged = lead(run, field, best, base);
  const std::string by =
      judged.claim == Claim::kMore ? ", " + lead_text(field, judged, name_in(field, base)) : "";
  std::erase_if(exact, [&](const auto* one) { return one == &best || leads(run, field, best, *one); });
  if (!exact.empty())
    return fmt::format(" Which is the best in fp32 cannot be said: {} is not told apart from {}{}.",
                       name_in(field, best), joined_names(field, exact), by);
  return fmt::format(" The best in fp32 is {}{}.", name_in(field, best), by);
}

// Where int8 does not win: how far its best case is behind, and what is not known of its outputs.
std::string lower_text(const RunResult& run, const Field& field, const CaseResult& winner) {
  Cases lower = field.cases;
  std::erase_if(lower, [](const auto* one) { return one->benchmark.precision != "int8"; });
  if (lower.empty() || winner.benchmark.precision == "int8") return {};
  const CaseResult& best = best_of(field, lower);
  const auto judged = lead(run, field, winner, best);
  const std::string by = judged.claim == Claim::kMore ? fmt::format("; {} is {}", name_in(field, winner),
                                                                    lead_text(field, judged, "it"))
                                                      : "";
  std::erase_if(lower, [&](const auto* one) { return one == &best || leads(run, field, best, *one); });
  const auto doubt = output_doubt(best, "its outputs");
  if (!lower.empty())
    return fmt::format(" Which is the best in int8 cannot be said: {} is not told apart from {}{}{}.",
                       name_in(field, best), joined_names(field, lower), by, doubt);
  return fmt::format(" The best in int8 is {}{}{}.", name_in(field, best), by, doubt);
}

// Names cases that are proven to lead their baselines, where no case is proven to lead all.
std::string proven_text(const RunResult& run, const Field& field) {
  constexpr std::size_t kMost = 2;
  std::vector<std::string> parts;
  for (const CaseResult* one : field.cases) {
    const auto base = std::ranges::find(field.cases, one->speedup.baseline_case_id, &CaseResult::case_id);
    if (base == field.cases.end() || *base == one || parts.size() == kMost) continue;
    if (const auto judged = lead(run, field, *one, **base); judged.claim == Claim::kMore)
      parts.push_back(name_in(field, *one) + " is " + lead_text(field, judged, name_in(field, **base)));
  }
  return parts.empty() ? "" : fmt::format(" Proven: {}.", join(parts, "; "));
}

std::string unclaimed_text(const RunResult& run, const Field& field, const CaseResult& winner,
                           const std::string& reason, const std::string& subject) {
  const double confidence = winner.headline.p50_ns.confidence;
  const bool few = std::ssize(winner.repetitions) < pairs_for_claim(confidence);
  return fmt::format("Which of {} cases{} {} is not claimed: {}{}. By the figures alone it is {}{}.{}",
                     field.cases.size(), subject,
                     field.by_time() ? "is the fastest" : fmt::format("does the most {}", field.unit()),
                     reason, few ? enough_text(winner, confidence) : "", name_in(field, winner),
                     answers_text(winner, name_in(field, winner), true),
                     proven_text(run, field) + lower_text(run, field, winner));
}

bool one_item(const Field& field) {
  return std::ranges::all_of(field.cases, [&](const auto* one) {
    return one->throughput.item == field.cases.front()->throughput.item;
  });
}

bool have_rates(const Field& field) {
  return std::ranges::all_of(field.cases, [](const auto* one) { return bool{one->throughput.per_s.value}; });
}

// Where the best case by its figure does not lead the next one.
std::string level_text(const Field& field, const RatioVerdict& judged, const std::string& name,
                       const std::string& than, const std::string& subject) {
  const std::string most = fmt::format("the most {}", field.unit());
  if (!judged.no_size.empty())  // in pairs another one than by the medians
    return fmt::format("Which case{} {} cannot be said: {}", subject,
                       field.by_time() ? "is the fastest" : "does " + most, judged.no_size);
  const auto range = range_of(*judged.ratio);
  if (judged.claim == Claim::kEqual)
    return fmt::format("{} and {} {}{}, equal within {} (ratio {})", name, than,
                       field.by_time() ? "are the fastest" : "do " + most, subject,
                       format_percent(judged.margin, 0), range);
  if (field.by_time())
    return fmt::format("Which case{} is the fastest cannot be said: {} is {} times as fast as {}", subject,
                       name, range, than);
  return fmt::format("Which case{} does {} cannot be said: {} does {} times those of {}", subject, most, name,
                     range, than);
}

// The fastest of several cases; `subject`: " for resnet50" where the run has more models.
std::string answer_sentence(const RunResult& run, const Field& field, const std::string& subject) {
  if (!field.by_time() && !(one_item(field) && have_rates(field))) return {};  // images are not sequences
  const CaseResult& winner = best_of(field, field.cases);
  const CaseResult& base = rival_of(field, winner);
  const auto judged = lead(run, field, winner, base);
  if (judged.claim == Claim::kNone) return unclaimed_text(run, field, winner, judged.reason, subject);
  Cases open;
  for (const CaseResult* one : field.cases)
    if (one != &winner && !leads(run, field, winner, *one)) open.push_back(one);
  const std::string name = name_in(field, winner), than = name_in(field, base),
                    grade = winner.grade == result::Grade::kC ? " The times themselves are of grade C." : "";
  if (judged.claim != Claim::kMore)
    return fmt::format("{}{}.{}{}{}", level_text(field, judged, name, than, subject),
                       both_pass(winner, base) ? kBothPass : answers_text(winner, name, false),
                       proven_text(run, field), lower_text(run, field, winner), grade);
  const std::string rivals =
      open.empty() ? "" : fmt::format(" (not told apart from {})", joined_names(field, open));
  const std::string first = field.by_time() ? "The fastest" : fmt::format("The most {}", field.unit()),
                    is = field.by_time() ? "is" : "come from";
  return fmt::format("{}{} {} {}{}: {}{}.{}{}", first, subject, is, name, rivals,
                     lead_text(field, judged, than), answers_text(winner, name, true),
                     exact_text(run, field, winner, base) + lower_text(run, field, winner), grade);
}

bool can_answer(const CaseResult& one) {
  return is_ok(one) && traits_of(one.benchmark.kind).has_latency &&
         traits_of(one.benchmark.scenario).one_at_a_time &&
         (one.headline.p50_ns.value || one.back_to_back_ns.value) &&
         (one.throughput.per_s.value || result::gap_s(one.benchmark) > 0);
}

Field field_of(Cases cases) {
  Field field;
  field.cases = std::move(cases);
  for (const CaseResult* one : field.cases)
    for (const auto& axis : differing_axes(one->benchmark, field.cases.front()->benchmark))
      if (std::ranges::count(field.axes, axis) == 0) field.axes.push_back(axis);
  const bool latencies = std::ranges::all_of(
      field.cases, [](const CaseResult* one) { return bool(one->headline.p50_ns.value); });
  if (!latencies || !same_work(field.axes, *field.cases.front())) field.figure = Figure::kRate;
  return field;
}

bool same_gap(const CaseResult& one, const CaseResult& other) {
  return result::gap_s(one.benchmark) == result::gap_s(other.benchmark);
}

// " for resnet50 with gap=1s": words are left out that all cases share.
std::string subject_words(const CaseResult& one, bool models, bool gaps) {
  const auto gap = result::gap_text(one.benchmark);
  return (models ? " for " + one.benchmark.model : "") + (gaps && !gap.empty() ? " with gap=" + gap : "");
}

// An answer for each model and gap with several cases; a single sentence for each case where none has.
std::string answer_by_gap(const RunResult& run, const Cases& all) {
  constexpr std::size_t kMost = 3;
  std::vector<Cases> groups;
  for (const CaseResult* one : all) {
    auto at = std::ranges::find_if(groups, [&](const Cases& group) {
      return group.front()->benchmark.model == one->benchmark.model && same_gap(*group.front(), *one);
    });
    if (at == groups.end()) at = groups.insert(at, Cases());
    at->push_back(one);
  }
  const bool models = std::ranges::any_of(
      all, [&](const auto* one) { return one->benchmark.model != all.front()->benchmark.model; });
  std::vector<std::string> answers;
  for (const Cases& group : groups)
    if (groups.size() == all.size())
      answers.push_back(single_sentence(*group.front()));
    else if (group.size() > 1)
      answers.push_back(answer_sentence(run, field_of(group), subject_words(*group.front(), models, true)));
  std::erase(answers, "");
  if (answers.size() > kMost) answers.resize(kMost);
  return join(answers, "\n");
}

// One answer per model; models with a case each are compared with one another.
std::string answer_of_many(const RunResult& run) {
  constexpr std::size_t kModels = 3;
  std::vector<std::pair<std::string, Cases>> models;
  Cases all;
  for (const CaseResult& one : run.cases) {
    if (!can_answer(one)) continue;
    all.push_back(&one);
    auto at = std::ranges::find(models, one.benchmark.model, &std::pair<std::string, Cases>::first);
    if (at == models.end()) at = models.insert(at, {one.benchmark.model, {}});
    at->second.push_back(&one);
  }
  if (all.empty()) return {};
  if (all.size() == 1) return single_sentence(*all.front());
  if (std::ranges::any_of(all, [&](const auto* one) { return !same_gap(*one, *all.front()); }))
    return answer_by_gap(run, all);
  if (models.size() == 1 || models.size() == all.size()) return answer_sentence(run, field_of(all), "");
  std::vector<std::string> answers;
  for (auto& [model, cases] : models)
    if (cases.size() > 1 && answers.size() < kModels)
      answers.push_back(answer_sentence(run, field_of(std::move(cases)), " for " + model));
  std::erase(answers, "");
  return join(answers, "\n");
}

}  // namespace

std::string closing_sentence(const RunResult& run) {
  if (run.cases.size() > 2) return answer_of_many(run);
  std::vector<const CaseResult*> measured;
  for (const auto& one : run.cases)
    if (is_ok(one)) measured.push_back(&one);
  if (measured.empty()) return {};
  const CaseResult &one = *measured.front(), &other = *measured.back();
  if (measured.size() == 1) return single_sentence(one);
  // A latency and a time of many inferences at once, or after another gap, answer two questions.
  if (bool{one.back_to_back_ns.value} != bool{other.back_to_back_ns.value} || !same_gap(one, other))
    return single_sentence(one) + "\n" + single_sentence(other);
  return pair_sentence(run, one, other);
}

}  // namespace paceline::analysis
