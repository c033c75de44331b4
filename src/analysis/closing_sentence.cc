// SPDX-License-Identifier: MIT
#include "analysis/closing_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "analysis/case_query.h"
#include "analysis/ratio_verdict.h"
#include "base/text.h"
#include "base/units.h"
#include "result/noise_rules.h"
#include "result/reference.h"

namespace paceline::analysis {
namespace {

// Axes in which two cases may differ while an inference of either is the same work.
constexpr std::array<std::string_view, 7> kSameWork{"engine", "precision",   "layout", "threads",
                                                    "params", "timing_mode", "model"};

bool same_work(const std::vector<std::string>& axes, const CaseResult& one) {
  return one.benchmark.scenario == "sync" && std::all_of(axes.begin(), axes.end(), [](const auto& axis) {
           return std::find(kSameWork.begin(), kSameWork.end(), axis) != kSameWork.end();
         });
}

// Engine and precision, and whatever else distinguishes the two; the label where that is not enough.
std::pair<std::string, std::string> names_of(const CaseResult& a, const CaseResult& b,
                                             const std::vector<std::string>& axes) {
  const auto name = [&](const CaseResult& one) {
    std::vector<std::string> words{one.benchmark.engine, one.benchmark.precision};
    for (const auto& axis : axes)
      if (axis != "engine" && axis != "precision" && axis != "timing_mode")
        words.push_back((axis == "batch"        ? "b"
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

// About the case in the lower precision, against fp32 of the same model; for two in fp32, about the one that
// kept fewer answers (the other may be the reference itself). Empty where answers were not compared.
std::string same_answers_text(const CaseResult& subject, const CaseResult& other) {
  const bool against_fp32 = subject.benchmark.precision == "fp32" || other.benchmark.precision == "fp32";
  if (!against_fp32 || subject.benchmark.model != other.benchmark.model) return {};
  const bool kept_less = subject.benchmark.precision == other.benchmark.precision
                             ? kept_of(subject) < kept_of(other)
                             : subject.benchmark.precision != "fp32";
  const auto& c = (kept_less ? subject : other).correctness;
  if (c.judged_by != "answers" || !c.top1_agreement || c.samples <= 0) return {};
  if (!result::has_independent_reference(c)) return {};
  const auto same = std::llround(*c.top1_agreement * static_cast<double>(c.samples));
  return fmt::format(", same answers on {} of {} inputs", same, c.samples);
}

// One decimal fewer from 2 on: "3.7", "1.13".
std::string times(double ratio) {
  return format_significant(ratio, ratio >= 2 ? 2 : 3);
}

std::string faster_text(const std::pair<std::string, std::string>& names, double value, double low,
                        double high, const std::string& answers) {
  return fmt::format("{} is {} times faster than {} ({}–{}){}.", names.first, times(value), names.second,
                     times(low), times(high), answers);
}

// `one` against `base`, with the pairs in its speed-up.
std::string time_sentence(const CaseResult& one, const CaseResult& base,
                          const std::vector<std::string>& axes) {
  const auto& s = one.speedup;
  const auto needed = pairs_for_claim(s.ratio.confidence);
  const auto names = names_of(one, base, axes);
  if (const auto reason = no_claim_reason(one); !reason.empty())
    return fmt::format(
        "Which of {} and {} is faster is not claimed: {}{}.", names.first, names.second, reason,
        s.pairs_apart == 0 && s.pairs < needed ? fmt::format(" (--repetitions {} makes enough)", needed)
                                               : "");
  const double low = *s.ratio.ci_low, high = *s.ratio.ci_high, value = *s.ratio.value;
  if (s.verdict == "faster") return faster_text(names, value, low, high, same_answers_text(one, base));
  if (s.verdict == "slower")
    return faster_text({names.second, names.first}, 1 / value, 1 / high, 1 / low,
                       same_answers_text(base, one));
  if (s.verdict == "equivalent")
    return fmt::format("{} and {} are equally fast within {} (ratio {:.2f}–{:.2f}){}.", names.first,
                       names.second, format_percent(result::smallest_difference(result::profile_of(one)), 0),
                       low, high, same_answers_text(one, base));
  return fmt::format("Which of {} and {} is faster cannot be said (ratio {:.2f}–{:.2f}).", names.first,
                     names.second, low, high);
}

// Cases whose inferences are different work are compared by their rates.
std::string rate_sentence(const RunResult& run, const CaseResult& a, const CaseResult& b,
                          const std::vector<std::string>& axes) {
  if (a.benchmark.scenario == "server" || b.benchmark.scenario == "server") return {};
  if (!a.throughput.per_s.value || !b.throughput.per_s.value) return {};
  if (a.throughput.item != b.throughput.item) return {};  // images are not sequences
  const bool a_first = *a.throughput.per_s.value >= *b.throughput.per_s.value;
  const CaseResult &more = a_first ? a : b, &less = a_first ? b : a;
  const auto judged = judge_ratio(run, {more, more.throughput.per_s}, {less, less.throughput.per_s});
  const auto names = names_of(more, less, axes);
  const std::string unit = more.throughput.item + "/s";
  if (judged.standing == Standing::kNoClaim)
    return fmt::format("Which of {} and {} does more {} is not claimed: {}.", names.first, names.second, unit,
                       judged.reason);
  if (judged.standing == Standing::kMore)
    return fmt::format("{} does {} times the {} of {} ({}).", names.first, times(judged.ratio->value), unit,
                       names.second, range_of(*judged.ratio));
  const bool equal = judged.standing == Standing::kEqual;
  return fmt::format("{} and {} {} (ratio {}).", names.first, names.second,
                     equal ? fmt::format("do the same {} within {}", unit, format_percent(judged.margin, 0))
                           : fmt::format("cannot be told apart in {}", unit),
                     range_of(*judged.ratio));
}

// What one sample of a case of each kind is.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kIterations{
    {{"training", "a step"}, {"collective", "an operation of the largest size"}, {"sleep", "a sleep"}}};

std::string_view iteration_name(const CaseResult& one) {
  for (const auto& [kind, name] : kIterations)
    if (kind == one.benchmark.kind) return name;
  return "an inference";
}

std::string single_sentence(const CaseResult& one) {
  const auto& p50 = one.headline.p50_ns;
  if (!p50.value || one.benchmark.scenario != "sync") return {};
  const std::string range =
      p50.ci_low && p50.ci_high
          ? fmt::format(" ({}–{})", format_duration_ns(*p50.ci_low), format_duration_ns(*p50.ci_high))
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
  return fmt::format("{} takes {} {}{}{}{}.", one.label, format_duration_ns(*p50.value), iteration_name(one),
                     range, rate, doubt);
}

std::string pair_sentence(const RunResult& run, const CaseResult& a, const CaseResult& b) {
  const auto axes = differing_axes(a.benchmark, b.benchmark);
  if (a.benchmark.kind != b.benchmark.kind || axes.empty()) return {};
  if (!same_work(axes, a) || !same_work(axes, b)) return rate_sentence(run, a, b, axes);
  if (a.speedup.baseline_case_id == b.case_id) return time_sentence(a, b, axes);
  if (b.speedup.baseline_case_id == a.case_id) return time_sentence(b, a, axes);
  return time_sentence(against(run, b, a), a, axes);
}

}  // namespace

std::string closing_sentence(const RunResult& run) {
  if (run.cases.size() > 2) return {};
  std::vector<const CaseResult*> measured;
  for (const auto& one : run.cases)
    if (is_ok(one)) measured.push_back(&one);
  if (measured.empty()) return {};
  return measured.size() == 1 ? single_sentence(*measured.front())
                              : pair_sentence(run, *measured.front(), *measured.back());
}

}  // namespace paceline::analysis
