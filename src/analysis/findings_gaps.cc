// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "base/text.h"
#include "base/units.h"
#include "result/stored/benchmark_params.h"

// Findings about cases that differ in how long the process sleeps between inferences (methodology: idle
// gaps).
namespace paceline::analysis {
namespace {

constexpr double kSmallest = 1.03;  // ratio that counts
constexpr double kExplains = 0.5;   // share of the additional time from which a sign is named as the cause

// A case beside that with the shortest gap.
struct Slowed {
  const CaseResult* one;
  const CaseResult* base;
  [[nodiscard]] double base_ns() const { return *base->headline.p50_ns.value; }
  [[nodiscard]] double ratio() const { return *one->headline.p50_ns.value / base_ns(); }
  [[nodiscard]] double added_ns() const { return *one->headline.p50_ns.value - base_ns(); }
};

std::string gap_of(const CaseResult& one) {
  return result::gap_text(one.benchmark);
}

double gap_seconds(const CaseResult* one) {
  return result::gap_s(one->benchmark);
}

// Words that cases with different gaps have in common.
std::string subject_of(const CaseResult& one) {
  const auto alike = result::without_gap(one.benchmark);
  return fmt::format("{} with {}", describe_without(alike, ""), plural(alike.threads, "thread"));
}

// A figure that the process left with its settings.
std::optional<double> sign_of(const CaseResult& one, const std::string& name) {
  const auto found = one.effective_settings.find(name);
  return found == one.effective_settings.end() ? std::nullopt : parse_double(found->second);
}

// A sign that may explain the additional time: how much of it, and words.
struct Sign {
  double ns = 0;
  std::string words, advice;
};

Sign faults_sign(const Slowed& slowed) {
  const auto name = "page_faults_per_inference";
  const auto now = sign_of(*slowed.one, name), before = sign_of(*slowed.base, name);
  const auto fault_ns = sign_of(*slowed.one, "page_fault_ns");
  if (!now || !before || !fault_ns) return {};
  return {
      (*now - *before) * *fault_ns,
      fmt::format("page faults, {:.0f} per inference against {:.0f}: its memory was given back", *now,
                  *before),
      "Let the process keep its memory (an arena, MALLOC_TRIM_THRESHOLD_), or send an inference more often."};
}

Sign clock_sign(const Slowed& slowed) {
  const auto name = "clock_mhz_after_inference";
  const auto now = sign_of(*slowed.one, name), before = sign_of(*slowed.base, name);
  if (!now || !before || *now <= 0) return {};
  return {slowed.base_ns() * (*before / *now - 1),
          fmt::format("the clock, {:.0f} MHz against {:.0f}", *now, *before),
          "Set the CPU's governor to performance, or send an inference more often."};
}

std::string state_name(const CaseResult& one) {
  const auto found = one.effective_settings.find("idle_state");
  return found == one.effective_settings.end() ? "" : found->second;
}

// Time to leave the idle state; none for states in which a core (or a guest's) only waits in a loop.
std::optional<double> exit_us(const CaseResult& one) {
  const auto name = state_name(one);
  return name == "POLL" || name == "haltpoll" ? std::nullopt : sign_of(one, "idle_exit_us");
}

// A state that is on both sides may be that of idle cores: it is no evidence.
bool same_state(const Slowed& slowed) {
  return exit_us(*slowed.one) && state_name(*slowed.one) == state_name(*slowed.base);
}

Sign state_sign(const Slowed& slowed) {
  const auto now = exit_us(*slowed.one), before = exit_us(*slowed.base);
  if (!now || same_state(slowed)) return {};
  return {(*now - before.value_or(0)) * 1e3,
          fmt::format("the idle state {}, which a core leaves in {:.0f} us", state_name(*slowed.one), *now),
          fmt::format("Forbid that idle state: cpupower idle-set -D {:.0f}.", *now / 2)};
}

// Says which signs were read and explain too little, and which cannot be read here.
std::string no_cause(const Slowed& slowed) {
  const auto& one = *slowed.one;
  std::vector<std::string> seen, unseen;
  const auto add = [&](bool is_seen, std::string words) {
    (is_seen ? seen : unseen).push_back(std::move(words));
  };
  add(sign_of(one, "page_faults_per_inference") && sign_of(*slowed.base, "page_faults_per_inference") &&
          sign_of(one, "page_fault_ns"),
      "page faults");
  add(sign_of(one, "clock_mhz_after_inference") && sign_of(*slowed.base, "clock_mhz_after_inference"),
      "the clock");
  const bool no_exit = !state_name(one).empty() && !sign_of(one, "idle_exit_us");
  if (!same_state(slowed))
    add(exit_us(one).has_value(),
        no_exit ? fmt::format("the idle state ({})", state_name(one)) : "the idle state");
  std::string text = "not known";
  if (!seen.empty()) text += fmt::format("; explains less than half: {}", join(seen, ", "));
  if (same_state(slowed)) text += fmt::format("; the same on both sides: the idle state {}", state_name(one));
  if (!unseen.empty()) text += fmt::format("; not to be read here: {}", join(unseen, ", "));
  return text;
}

// The sign that explains most of the additional time.
Sign cause_of(const Slowed& slowed) {
  Sign most{0, no_cause(slowed),
            "Send an inference more often than that, or measure with threads that spin while they wait."};
  double least = kExplains * slowed.added_ns();
  for (const auto& sign : {faults_sign(slowed), clock_sign(slowed), state_sign(slowed)})
    if (sign.ns >= least && !sign.words.empty()) least = sign.ns, most = sign;
  return most;
}

// Beyond doubt: both intervals lie apart.
bool is_slower(const Slowed& slowed) {
  const auto& mine = slowed.one->headline.p50_ns;
  const auto& theirs = slowed.base->headline.p50_ns;
  return mine.ci_low && theirs.ci_high && *mine.ci_low > *theirs.ci_high && slowed.ratio() > kSmallest;
}

std::string time_words(const CaseResult& one) {
  const auto& p50 = one.headline.p50_ns;
  return fmt::format("{} ({})", format_duration_ns(*p50.value),
                     format_duration_range_ns(*p50.ci_low, *p50.ci_high, *p50.value));
}

// Empty where both medians have intervals between processes.
std::string few_processes(const Slowed& slowed) {
  const auto& scope = result::kBetweenProcess;
  const bool between = slowed.one->headline.scope == scope && slowed.base->headline.scope == scope;
  return between ? "" : ", within one process each";
}

Finding gap_finding(const Slowed& slowed) {
  const auto cause = cause_of(slowed);
  const auto& base_gap = gap_of(*slowed.base);
  return finding_about(
      {slowed.one, slowed.base},
      fmt::format("{}: p50 is {}x as long after a gap of {} as {}: {} against {}{}. Cause: {}.",
                  subject_of(*slowed.one), format_fixed(slowed.ratio(), 2), gap_of(*slowed.one),
                  base_gap == "0" ? "without one" : "after " + base_gap, time_words(*slowed.one),
                  time_words(*slowed.base), few_processes(slowed), cause.words),
      "intervals of the medians lie apart", cause.advice);
}

// Cases that are valid for latency and only differ in their gap, the shortest first.
std::vector<Cases> gap_groups(const RunResult& run) {
  std::map<std::string, Cases> groups;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || gap_of(one).empty() || !one.headline.p50_ns.value) continue;
    if (one.grade == result::Grade::kC) continue;
    groups[subject_of(one)].push_back(&one);
  }
  std::vector<Cases> found;
  for (auto& [subject, group] : groups)
    if (group.size() > 1) found.push_back(std::move(group));
  for (auto& group : found) std::ranges::stable_sort(group, {}, gap_seconds);
  return found;
}

}  // namespace

Findings find_idle_gaps(const RunResult& run) {
  std::vector<Slowed> slowed;
  for (const Cases& group : gap_groups(run)) {
    std::vector<Slowed> of_group;
    for (const CaseResult* one : group)
      if (const Slowed pair{one, group.front()}; one != pair.base && is_slower(pair))
        of_group.push_back(pair);
    const auto most = std::ranges::max_element(of_group, {}, &Slowed::ratio);
    if (most != of_group.end()) slowed.push_back(*most);
  }
  std::ranges::sort(slowed, std::ranges::greater(), &Slowed::ratio);
  Findings found;
  for (const auto& one : slowed) found.push_back(gap_finding(one));
  return found;
}

}  // namespace paceline::analysis
