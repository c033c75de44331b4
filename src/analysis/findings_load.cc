// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "analysis/ratio_verdict.h"
#include "base/units.h"
#include "result/figures/summarize_load.h"

// Findings about sweeps over concurrency and objectives of servers (methodology: load scenarios).
namespace paceline::analysis {
namespace {

constexpr double kKneeShare = 0.95;

std::int64_t concurrency_of(const CaseResult& one) {
  return one.load() ? one.load()->concurrency : 1;
}

// Describes everything except the concurrency.
std::string words_without_concurrency(const CaseResult& one) {
  result::Benchmark b = one.benchmark;
  b.params.erase("concurrency");
  return describe_without(b, "");
}

std::vector<Cases> sweeps(const RunResult& run) {
  std::map<std::string, Cases> groups;
  for (const CaseResult& one : run.cases)
    if (is_ok(one) && traits_of(one.benchmark.scenario).keeps_in_flight && one.throughput.per_s.value)
      groups[words_without_concurrency(one)].push_back(&one);
  std::vector<Cases> found;
  for (auto& [subject, group] : groups) {
    std::sort(group.begin(), group.end(),
              [](const auto* a, const auto* b) { return concurrency_of(*a) < concurrency_of(*b); });
    if (group.size() > 1) found.push_back(std::move(group));
  }
  return found;
}

// The knee has 95 % of the highest throughput, and every lower concurrency has less, with whole intervals.
bool certain(const RunResult& run, const CaseResult& knee, const CaseResult& best, const Cases& sweep) {
  return std::all_of(sweep.begin(), sweep.end(), [&](const CaseResult* one) {
    if (concurrency_of(*one) > concurrency_of(knee) && one != &best) return true;
    const auto judged = judge_ratio(run, Figure::kRate, *one, best);
    if (!judged.doubt().empty()) return false;
    if (one == &best) return true;
    return one == &knee ? judged.ratio->ci.low >= kKneeShare : judged.ratio->ci.high < kKneeShare;
  });
}

Finding knee_of(const RunResult& run, const Cases& sweep) {
  const CaseResult& best = **std::max_element(sweep.begin(), sweep.end(), [](const auto* a, const auto* b) {
    return *rate_of(*a).value < *rate_of(*b).value;
  });
  const CaseResult& knee = **std::find_if(sweep.begin(), sweep.end(), [&](const auto* one) {
    return *rate_of(*one).value >= kKneeShare * *rate_of(best).value;
  });
  auto text =
      fmt::format("{}: the smallest concurrency with 95 % of the highest throughput is {}{}: {} at {}",
                  words_without_concurrency(knee), concurrency_of(knee),
                  certain(run, knee, best, sweep) ? ""
                                                  : " as measured (no claim: the intervals are too wide or "
                                                    "there are too few processes)",
                  rate_words(knee), p50_words(knee));
  if (&best != &knee)
    text += fmt::format("; the highest is {} at concurrency {} and {}", rate_words(best),
                        concurrency_of(best), p50_words(best));
  text += ". The latencies are those of a closed loop, not of a rate of arrivals.";
  return finding_about(&best == &knee ? Cases{&knee} : Cases{&knee, &best}, std::move(text),
                       fmt::format("{} closed loops, concurrency {} to {}", sweep.size(),
                                   concurrency_of(*sweep.front()), concurrency_of(*sweep.back())));
}

// Objectives with this verdict, described by `words`.
Findings objectives(const RunResult& run, answer::Verdict verdict, std::string_view words) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || !one.load() || !one.load()->slo) continue;
    const auto& load = *one.load();
    const auto& slo = *load.slo;
    if (slo.verdict != verdict) continue;
    const auto& rate = slo.offered_per_s;
    found.push_back(finding_about(
        {&one},
        fmt::format("{} {} p{:g} ≤ {} at {} requests/s: {}.", one.label, words, slo.p * 100,
                    format_duration_ns(slo.bound_ns), rate ? format_rate(*rate) : "an unknown rate",
                    slo.detail),
        fmt::format("one-sided binomial test at {:g} % in each process", slo.confidence * 100)));
  }
  return found;
}

// Limits that a search found; `bracketed`: with a higher rate that missed.
Findings capacities(const RunResult& run, bool bracketed) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || !one.load() || !one.load()->slo) continue;
    const auto& capacity = one.load()->capacity;
    if (!capacity.per_s || static_cast<bool>(capacity.missed_per_s) != bracketed) continue;
    const auto& slo = *one.load()->slo;
    found.push_back(
        finding_about({&one},
                      fmt::format("{}: the highest rate with p{:g} ≤ {} is {} {}.", one.label, slo.p * 100,
                                  format_duration_ns(slo.bound_ns), bracketed ? "bracketed:" : "not known,",
                                  result::capacity_in_words(capacity)),
                      fmt::format("{} of the search", plural(std::ssize(capacity.trials), "trial"))));
  }
  return found;
}

}  // namespace

Findings find_knee(const RunResult& run) {
  Findings found;
  for (const Cases& sweep : sweeps(run)) found.push_back(knee_of(run, sweep));
  return found;
}

Findings find_open_capacities(const RunResult& run) {
  return capacities(run, false);
}

Findings find_capacities(const RunResult& run) {
  return capacities(run, true);
}

Findings find_missed_objectives(const RunResult& run) {
  return objectives(run, answer::Verdict::kNo, "does not hold");
}

Findings find_open_objectives(const RunResult& run) {
  return objectives(run, answer::Verdict::kCannotSay, "cannot be said to hold");
}

Findings find_met_objectives(const RunResult& run) {
  return objectives(run, answer::Verdict::kYes, "holds");
}

}  // namespace paceline::analysis
