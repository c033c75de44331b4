// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/cause_words.h"
#include "analysis/setting_words.h"
#include "analysis/trained_cases.h"
#include "base/units.h"
#include "result/figures/late_rank.h"
#include "result/stored/training.h"

// Findings about ranks that the others wait for (methodology: multi-rank aggregation).
namespace paceline::analysis {
namespace {

using result::kMuchWaiting;
using result::kUnevenSync;
using result::kWorthSync;

constexpr double kAll = 0.995;           // of the waiting
constexpr double kMuchCpuWaiting = 0.1;  // of a step

// With gradient accumulation, ranks wait for each other only in steps that exchange gradients.
const char* unit(const result::LateRank& late) {
  return late.steps > late.exchanges ? "exchange" : "step";
}

// "came last in 9 of 10 steps and caused all of the waiting"
std::string last_arrivals_text(const result::LateRank& late) {
  const bool always = late.late_exchanges == late.exchanges;
  const auto times =
      always ? std::llround(*late.last_share * static_cast<double>(late.exchanges)) : late.late_exchanges;
  std::string text = fmt::format("{} in {} of {}", always ? "came last" : "was late", times,
                                 plural(late.exchanges, unit(late)));
  if (late.waiting_share)
    text += fmt::format(" and caused {} of the waiting",
                        *late.waiting_share >= kAll ? "all" : format_percent(*late.waiting_share, 0));
  return text;
}

// ", since step 10", ", every 4 steps"; empty where it is late throughout.
std::string when_late_words(const result::LateRank& late) {
  const bool begins = late.since_step > late.first_step, ends = late.until_step < late.last_step;
  if (late.every > 0) return fmt::format(", every {} {}s", late.every, unit(late));
  if (begins && ends) return fmt::format(", from step {} to step {}", late.since_step, late.until_step);
  if (begins) return fmt::format(", since step {}", late.since_step);
  if (ends) return fmt::format(", until step {}", late.until_step);
  if (late.late_exchanges < late.exchanges)
    return fmt::format(", in {} of {}", late.late_exchanges, plural(late.exchanges, unit(late)));
  return {};
}

bool waits_for_ranks(const Training& t) {
  return t.straggler_wait_share && *t.straggler_wait_share >= kMuchWaiting;
}

// How often, since when, and at what cost a rank is late.
std::string lateness_text(const Training& t) {
  const auto& late = t.late.front();
  std::string text =
      fmt::format("it was the last in {} of the timed {}s", format_percent(*late.last_share), unit(late));
  if (late.waiting_share)
    text += fmt::format(" and caused {} of the waiting", format_percent(*late.waiting_share, 0));
  if (!late.late_in.empty()) text += fmt::format(", most of it in its {} part", late.late_in);
  const std::string when = when_late_words(late);
  text += !when.empty() ? when : late.begins_late ? ", from the first timed step on" : "";
  text +=
      fmt::format("; probability that chance alone looks like this: {:.2g}", std::max(*late.chance, 1e-6));
  if (t.straggler_wait_share)
    text += fmt::format("; waiting for late ranks is {} of a step", format_percent(*t.straggler_wait_share));
  return text;
}

// For the sentence of a finding; empty where the cause is unknown.
std::string cause_words(const result::LateRank& late) {
  if (late.causes.empty()) return {};
  return fmt::format("; cause: {}", words_of_cause(late.causes.front().name).words);
}

std::string late_advice(const CaseResult& one) {
  const auto& late = training_of(one).late.front();
  if (late.causes.empty())
    return is_traced(one) ? "See what only this rank does (hooks, logging, checkpoints), and compare its "
                            "cores, clocks and neighbours with those of the others."
                          : "See what else runs on its cores or heats its device (paceline validate); until "
                            "then leave it out.";
  return advice_to(one, words_of_cause(late.causes.front().name).advice);
}

// Why the rank is late, as far as evidence goes.
std::string cause_text(const CaseResult& one, const result::RankFigures& rank) {
  const auto& late = training_of(one).late.front();
  if (late.causes.empty() && !rank.evidence.cpu_ns) return {};
  if (late.causes.empty())
    return std::string(
               "; the cause is unknown: nothing that was sampled beside the steps explains 30 % of it") +
           (is_traced(one) ? "" : " in every repetition");
  const double lateness = late.mean_late_ns ? *late.mean_late_ns : *late.late_ns;
  std::string text = "; cause: ";
  for (const auto& cause : late.causes) {
    if (&cause != &late.causes.front()) text += "; also: ";
    text += cause.evidence;
    if (cause.explains_ns)
      text += fmt::format(" (explains {} of {} per step)",
                          format_duration_ns(std::min(*cause.explains_ns, lateness)),
                          format_duration_ns(lateness));
  }
  return text;
}

// Cost of a late rank: the median step shows it, or the waiting does.
std::string straggler_cost(const Training& t) {
  if (t.straggler_index && *t.straggler_index >= result::kLateRank)
    return fmt::format("a step computes {} % longer on the slowest rank than on the median one",
                       format_fixed((*t.straggler_index - 1) * 100, 1));
  return fmt::format("that is {} of a mean step", format_percent(*result::cost_share(t, t.late.front())));
}

// Where a rank ran, as far as that is known.
std::string place_of(const result::RankFigures& rank) {
  if (rank.host.empty()) return {};
  return rank.cpus.empty() ? fmt::format(" (host {})", rank.host)
                           : fmt::format(" (host {}, CPUs {})", rank.host, rank.cpus);
}

// Where the reader finds each step.
const char* steps_words(const CaseResult& one) {
  return is_traced(one) ? "." : "; rank<k>.jsonl has every step.";
}

Finding straggler_of(const CaseResult& one) {
  const Training& t = training_of(one);
  const auto late = std::find_if(t.ranks.begin(), t.ranks.end(),
                                 [&](const auto& r) { return r.rank == *t.straggler_rank; });
  const bool known = late != t.ranks.end();
  return about_training(
      one,
      fmt::format("{}: the others wait for rank {}{}: {}{}.", one.label, *t.straggler_rank,
                  known ? place_of(*late) : std::string(), straggler_cost(t), cause_words(t.late.front())),
      known ? lateness_text(t) + cause_text(one, *late) : std::string(), late_advice(one));
}

// Whom the waiting is due to, as far as the steps tell.
std::string who_is_late(const Training& t) {
  if (!t.suspected.empty())
    return fmt::format(
        "rank {} {}; {} time at least {} steps", t.suspected.front().rank,
        last_arrivals_text(t.suspected.front()),
        result::is_favour(t.suspected.front())
            ? "ranks share CPUs, of which the scheduler may favour one for seconds: pin them, or"
            : "too few steps to be certain:",
        result::steps_for_certainty(t.suspected.front(), t.ranks.size(),
                                    t.costs.step_ns.value.value().value_or(0)));
  if (t.straggler_rank && t.straggler_index)
    return fmt::format("rank {} is late, but its straggler index is only {}", *t.straggler_rank,
                       format_fixed(*t.straggler_index, 3));
  return "no single rank is late with certainty";
}

// How long threads of the ranks waited for a CPU, where that is worth a word; else empty.
std::string cpu_waiting_text(const Training& t) {
  std::vector<double> waits;
  for (const auto& rank : t.ranks)
    if (rank.evidence.runq_wait_ns) waits.push_back(*rank.evidence.runq_wait_ns);
  if (waits.empty() || !t.costs.step_ns.value) return {};
  const auto [least, most] = std::ranges::minmax(waits);
  if (most < kMuchCpuWaiting * *t.costs.step_ns.value) return {};
  return fmt::format("per step, the ranks waited {} to {} for a CPU", format_duration_ns(least),
                     format_duration_ns(most));
}

std::string uneven_ranks_evidence(const Training& t, const std::string& waiting) {
  std::string text;
  if (t.communication_share)
    text = fmt::format("communication itself is {} of a step", format_percent(*t.communication_share));
  return waiting.empty() || text.empty() ? text + waiting : text + "; " + waiting;
}

// Ranks that are late in turns cost as much as one that always is.
Finding uneven_ranks_of(const CaseResult& one) {
  const Training& t = training_of(one);
  const auto waiting = cpu_waiting_text(t);
  const char* const look = waiting.empty()
                               ? "Look for noise on the hosts, and for batches of uneven size"
                               : "Stop other work on the hosts, or use fewer threads and loader workers";
  return about_training(one,
                        fmt::format("{}: {} of a step waits for whichever rank is last; {}.", one.label,
                                    format_percent(*t.straggler_wait_share), who_is_late(t)),
                        uneven_ranks_evidence(t, waiting),
                        t.suspected.empty() ? std::string(look) + steps_words(one)
                                            : std::string("Time more steps") +
                                                  (is_traced(one) ? "" : " (benchmark.measure_steps)") +
                                                  ", and see what only this rank does.");
}

}  // namespace

Findings find_stragglers(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : above(run, &Training::straggler_index, 0))
    if (names_straggler(*one)) found.push_back(straggler_of(*one));
  for (const CaseResult* one : above(run, &Training::straggler_wait_share, kMuchWaiting))
    if (!names_straggler(*one)) found.push_back(uneven_ranks_of(*one));
  return found;
}

Findings find_uneven_sync(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : above(run, &Training::sync_variation, kUnevenSync)) {
    const Training& t = training_of(*one);
    if (!t.exposed_share || *t.exposed_share < kWorthSync || names_straggler(*one) || waits_for_ranks(t))
      continue;
    found.push_back(about_training(
        *one,
        fmt::format("{}: gradient synchronisation varies: p95/p50 {} over the steps.", one->label,
                    format_fixed(*t.sync_variation, 2)),
        fmt::format("exposed communication is {} of a step", format_percent(*t.exposed_share)),
        std::string("Look for noise on the network and for other work on the hosts") + steps_words(*one)));
  }
  return found;
}

}  // namespace paceline::analysis
