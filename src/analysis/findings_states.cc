// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "base/text.h"
#include "base/units.h"

// Findings about inferences whose times have two modes (methodology: noise diagnostics).
namespace paceline::analysis {
namespace {

using result::StateSign;
using result::TwoStates;

constexpr double kApart = 1.1;       // ratio of the modes from which they are two states
constexpr double kLeastShare = 0.1;  // of the rarer one

std::string reading(const StateSign& sign, double value) {
  if (sign.unit == "1") return format_percent(value);
  if (sign.unit == "ns") return format_duration_ns(value);
  return fmt::format("{} {}", format_significant(value), sign.unit);
}

std::string sign_words(const StateSign& sign) {
  return fmt::format("{} ({} in the fast one, {} in the slow one)", sign.what, reading(sign, sign.fast),
                     reading(sign, sign.slow));
}

std::string cause_words(const TwoStates& states) {
  if (!states.unread.empty()) return fmt::format("What tells them apart is not known: {}.", states.unread);
  if (states.signs.empty())
    return fmt::format("Nothing that was read tells them apart: {}.", join(states.alike, ", "));
  std::vector<std::string> words;
  for (const auto& sign : states.signs) words.push_back(sign_words(sign));
  return fmt::format("They differ in {}.", join(words, ", "));
}

std::string process_words(const CaseResult& one, const TwoStates& states) {
  if (!states.by_process) return "";
  return fmt::format(", and each of its {} stayed in one", plural(std::ssize(one.repetitions), "process"));
}

Finding states_finding(const CaseResult& one) {
  const auto& states = *one.two_states;
  return finding_about(
      {&one},
      fmt::format("{}: the times have two states, {} ({}) and {} ({}){}. {}", one.label,
                  format_duration_ns(states.fast_ns), format_percent(1 - states.slow_share, 0),
                  format_duration_ns(states.slow_ns), format_percent(states.slow_share, 0),
                  process_words(one, states), cause_words(states)),
      "modes of the samples, and readings in each");
}

bool matters(const CaseResult& one) {
  if (!is_ok(one) || !one.two_states) return false;
  const auto& states = *one.two_states;
  return states.slow_ns >= kApart * states.fast_ns &&
         std::min(states.slow_share, 1 - states.slow_share) >= kLeastShare;
}

}  // namespace

Findings find_two_states(const RunResult& run) {
  Cases found;
  for (const CaseResult& one : run.cases)
    if (matters(one)) found.push_back(&one);
  std::ranges::stable_sort(found, std::ranges::greater(), [](const CaseResult* one) {
    return one->two_states->slow_ns / one->two_states->fast_ns;
  });
  Findings findings;
  for (const auto* one : found) findings.push_back(states_finding(*one));
  return findings;
}

}  // namespace paceline::analysis
