// SPDX-License-Identifier: MIT
// Findings that recommend a case for a goal, and what its answers cost.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "analysis/ratio_verdict.h"
#include "base/units.h"
#include "result/figures/pairing.h"
#include "result/figures/peak_memory.h"
#include "result/judged/reference.h"
#include "result/stored/benchmark_params.h"

namespace paceline::analysis {
namespace {

// Something a user may want. `score`: lower is better; `certain`: the first is better than the second.
struct Goal {
  std::string_view words;
  double (*score)(const CaseResult&);
  bool (*certain)(const RunResult&, const CaseResult&, const CaseResult&);
  std::string (*figure)(const CaseResult&);
};

double memory_bytes(const CaseResult& one) {
  return static_cast<double>(*result::peak_memory(one));
}

// The smallest peak over the processes; memory_bytes() is the largest.
double least_memory_bytes(const CaseResult& one) {
  double low = memory_bytes(one);
  for (const auto& repetition : one.repetitions)
    if (const auto peak = result::peak_memory(one.benchmark, repetition.memory))
      low = std::min(low, static_cast<double>(*peak));
  return low;
}

constexpr std::array<Goal, 3> kGoals{{
    {"Lowest latency", [](const CaseResult& c) { return *c.headline.p50_ns.value; },
     [](const RunResult& run, const CaseResult& a, const CaseResult& b) {
       return judge_ratio(run, Figure::kLatency, b, a).claim == Claim::kMore;
     },
     [](const CaseResult& c) {
       const auto& p50 = c.headline.p50_ns;
       const auto range = p50.ci_low && p50.ci_high
                              ? format_duration_range_ns(*p50.ci_low, *p50.ci_high, *p50.value)
                              : std::string("no interval");
       return fmt::format("p50 {} ({})", format_duration_ns(*p50.value), range);
     }},
    {"Highest throughput", [](const CaseResult& c) { return -*c.throughput.per_s.value; },
     [](const RunResult& run, const CaseResult& a, const CaseResult& b) {
       return judge_ratio(run, Figure::kRate, a, b).claim == Claim::kMore;
     },
     [](const CaseResult& c) {
       return fmt::format("{} {}/s ({})", format_rate(*c.throughput.per_s.value), c.throughput.item,
                          format_range_of(c.throughput.per_s));
     }},
    {"Smallest", memory_bytes,
     [](const RunResult&, const CaseResult& a, const CaseResult& b) {
       return memory_bytes(a) < least_memory_bytes(b);
     },
     [](const CaseResult& c) {
       const auto& size = c.model_file.size_bytes;
       return fmt::format("{} {}{}", format_bytes(memory_bytes(c)),
                          result::on_device(c.benchmark) ? "of GPU memory" : "in memory",
                          size ? fmt::format(", {} on disk", format_bytes(static_cast<double>(*size))) : "");
     }},
}};

// Work that a user has: a gap is a question, like the model, and no choice.
using ModelAndGap = std::pair<std::string, double>;

ModelAndGap model_and_gap(const CaseResult& one) {
  return {one.benchmark.model, result::gap_s(one.benchmark)};
}

// Cases that the goal can judge: blocks of inferences have a rate but no latency, cases that sleep the
// reverse.
Cases candidates(const RunResult& run, const ModelAndGap& subject, const Goal& goal) {
  const bool by_latency = &goal == kGoals.data(), by_rate = goal.words == "Highest throughput";
  Cases found;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || model_and_gap(one) != subject || traits_of(one.benchmark.scenario).rate_is_offered ||
        one.training())  // ranks are not alternatives for the same work
      continue;
    if (!has_interval(one.headline.p50_ns) && (by_latency || !has_interval(one.back_to_back_ns))) continue;
    const bool sleeps = subject.second > 0;
    if (sleeps ? by_rate : !has_interval(one.throughput.per_s)) continue;
    if (!result::peak_memory(one)) continue;
    found.push_back(&one);
  }
  return found;
}

const CaseResult& best_of(const Cases& cases, const Goal& goal) {
  return **std::min_element(cases.begin(), cases.end(),
                            [&](const auto* a, const auto* b) { return goal.score(*a) < goal.score(*b); });
}

Cases indistinguishable(const RunResult& run, const Cases& cases, const CaseResult& winner,
                        const Goal& goal) {
  Cases rivals;
  for (const CaseResult* one : cases)
    if (one != &winner && !goal.certain(run, winner, *one)) rivals.push_back(one);
  return rivals;
}

std::string rivals_text(const Cases& rivals) {
  return rivals.empty() ? "" : fmt::format(" (not told apart from {})", list_labels(rivals, 1));
}

// States the accuracy cost, which qualifies every precision below FP32.
std::string answers_cost_text(const CaseResult& one) {
  const auto& c = one.correctness;
  if (!c.checked || c.verdict == answer::Verdict::kCannotSay) return output_doubt(one, "its outputs");
  if (one.benchmark.precision == "fp32" || !c.centred_cosine) return {};
  const bool answers = c.judged_by == "answers" && c.top1_agreement;
  return fmt::format(
      "; its answers: centred cosine {} to FP32{} over {} inputs", format_fixed(*c.centred_cosine, 3),
      answers ? fmt::format(", same top-1 in {}", format_percent(*c.top1_agreement, 1)) : "", c.samples);
}

// The best case with the answers of FP32, where the winner does not have them.
std::string exact_text(const RunResult& run, const Cases& cases, const CaseResult& winner, const Goal& goal,
                       bool comparable) {
  if (winner.benchmark.precision == "fp32") return {};
  Cases exact = cases;
  std::erase_if(exact, [](const auto* one) { return one->benchmark.precision != "fp32"; });
  if (exact.empty()) return {};
  const auto& best = best_of(exact, goal);
  const auto rivals = comparable ? indistinguishable(run, exact, best, goal) : Cases{};
  return fmt::format("; with FP32's answers: {}, {}{}", describe_without(best.benchmark, "model"),
                     goal.figure(best), rivals_text(rivals));
}

// Why the order of the cases is not a claim; empty where it is one.
std::string doubt_of(const RunResult& run, const Cases& cases, const CaseResult& winner) {
  if (winner.headline.scope != result::kBetweenProcess) return "; within one process each, no claim";
  const bool turns = std::all_of(cases.begin(), cases.end(), [&](const CaseResult* one) {
    return one == &winner || result::in_turns(*one, winner, run.resumed_utc);
  });
  return turns ? "" : "; no claim: not all of them ran in turns with it";
}

Finding recommend(const RunResult& run, const std::string& model, const Cases& cases, const Goal& goal) {
  const CaseResult& winner = best_of(cases, goal);
  const std::string doubt = doubt_of(run, cases, winner);
  const auto rivals = doubt.empty() ? indistinguishable(run, cases, winner, goal) : Cases{};
  Finding finding;
  finding.text =
      fmt::format("{} for {}: {}, {}{}{}{}{}.", goal.words, model,
                  describe_without(winner.benchmark, "model"), goal.figure(winner), rivals_text(rivals),
                  answers_cost_text(winner), exact_text(run, cases, winner, goal, doubt.empty()), doubt);
  finding.evidence = fmt::format("{} measured configurations, ratios over pairs of processes", cases.size());
  finding.about = {winner.case_id};
  return finding;
}

// Memory of a device is not compared with memory of a host.
bool share_a_place(const Cases& cases) {
  return std::all_of(cases.begin(), cases.end(), [&](const CaseResult* one) {
    return result::on_device(one->benchmark) == result::on_device(cases.front()->benchmark);
  });
}

}  // namespace

Findings find_recommendations(const RunResult& run) {
  Findings found;
  std::set<ModelAndGap> subjects;
  for (const CaseResult& one : run.cases)
    if (const auto subject = model_and_gap(one); subjects.insert(subject).second)
      for (const auto& goal : kGoals)
        if (const auto field = candidates(run, subject, goal);
            field.size() > 1 && (goal.score != memory_bytes || share_a_place(field)))
          found.push_back(recommend(run, one.benchmark.model, field, goal));
  return found;
}

}  // namespace paceline::analysis
