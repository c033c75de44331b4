// SPDX-License-Identifier: MIT
// The sentence of a search.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "cli/tune/arm_plan.h"
#include "cli/tune/tune_answer.h"
#include "config/option_table.h"
#include "config/value.h"
#include "result/figures/peak_memory.h"

namespace paceline::cli {
namespace {

using tune::Found;

std::string memory_words(const result::CaseResult& one) {
  const auto bytes = result::peak_memory(one);
  return bytes ? format_bytes(static_cast<double>(*bytes)) : "";
}

const result::CaseResult& case_of(const TuneOutcome& outcome, std::size_t arm) {
  return outcome.raced.run.cases.at(arm);
}

// How far the others are behind the best arm.
std::string lead_words(const TuneOutcome& outcome) {
  const auto count = std::ssize(outcome.raced.search.arms()) - 1;
  if (!outcome.found.ahead)
    return count == 1 ? "the other arm cannot be taken"
                      : fmt::format("none of the {} others can be taken", count);
  const auto factor = format_fixed(*outcome.found.ahead, 2);
  return count == 1 ? fmt::format("the other arm costs at least {} times as much", factor)
                    : fmt::format("each of the {} others costs at least {} times as much, or cannot be taken",
                                  count, factor);
}

bool holds(const TuneOutcome& outcome, std::size_t arm) {
  return case_of(outcome, arm).correctness.verdict == answer::Verdict::kYes;
}

// Words for what memory decided among arms that are not told apart.
std::string memory_choice(const TuneOutcome& outcome) {
  const auto& found = outcome.found;
  const auto own = result::peak_memory(case_of(outcome, *found.arm));
  if (!own) return {};
  auto others = found.equals;  // that it was chosen from
  if (holds(outcome, *found.arm)) std::erase_if(others, [&](std::size_t i) { return !holds(outcome, i); });
  const bool least = std::ranges::all_of(others, [&](std::size_t i) {
    const auto other = result::peak_memory(case_of(outcome, i));
    return !other || static_cast<double>(*own) <= tune::kSameMemory * static_cast<double>(*other);
  });
  const auto& search = outcome.raced.search;
  const auto margin = format_percent(search.rules().margin, 0);
  const auto near = std::ranges::count_if(others, [&](std::size_t i) {
    return search.estimate(i, found.equals.front()).value_or(HUGE_VAL) <= 1 + search.rules().margin;
  });
  const auto* const these = others.size() < found.equals.size() ? "those whose outputs hold" : "these";
  if (others.size() == 1 && found.equals.size() > 1) return "; of these its outputs alone are known to hold";
  if (!least && near < 2) return {};  // memory decided nothing
  return least ? fmt::format("; of {} it takes the least memory, within {} ({})", these,
                             format_percent(tune::kSameMemory - 1, 0),
                             memory_words(case_of(outcome, *found.arm)))
               : fmt::format("; of {} within {} it takes the least memory ({})", these, margin,
                             memory_words(case_of(outcome, *found.arm)));
}

std::string equal_sentence(const TuneOutcome& outcome) {
  const auto& found = outcome.found;
  std::vector<std::string> labels;
  for (const auto arm : found.equals)
    if (arm != *found.arm) labels.push_back(case_of(outcome, arm).label);
  constexpr std::size_t kNamed = 3;
  const auto more = labels.size() > kNamed ? fmt::format(" and {} more", labels.size() - kNamed) : "";
  labels.resize(std::min(labels.size(), kNamed));
  return fmt::format("Take {}; {}{} {} not told apart from it{}.", arm_words(outcome, *found.arm),
                     join(labels, ", "), more, found.equals.size() == 2 ? "is" : "are",
                     memory_choice(outcome));
}

// An arm with its cost over that of the arm to take.
struct Alternative {
  std::size_t arm;
  double ratio;
};

// Among the arms whose outputs agree with the reference, also those that costs dropped.
std::optional<Alternative> cheapest_that_holds(const TuneOutcome& outcome) {
  std::optional<Alternative> cheapest;
  const auto& search = outcome.raced.search;
  for (std::size_t i = 0; i < search.arms().size(); ++i) {
    const auto& arm = search.arms()[i];
    const auto ratio = search.estimate(i, *outcome.found.arm);
    if (!ratio || !holds(outcome, i) || arm.fate == tune::Fate::kFailed || !meets_all(arm)) continue;
    if (!cheapest || *ratio < cheapest->ratio) cheapest = {i, *ratio};
  }
  return cheapest;
}

// Words for what a figure of speed does not show.
std::string validity_words(const TuneOutcome& outcome) {
  if (!traits_of(outcome.request.kind).checks_outputs) {
    const auto words = convergence_words(outcome);
    return words.empty() ? words : " " + words;
  }
  if (holds(outcome, *outcome.found.arm)) return " Its outputs agree with the reference.";
  const auto safe = cheapest_that_holds(outcome);
  if (!safe) return " Whether its outputs hold is not known.";
  return fmt::format(" Whether its outputs hold is not known; those of {} do, at about {} times the cost.",
                     case_of(outcome, safe->arm).label, format_fixed(safe->ratio, 2));
}

// Why the best arm so far is not the answer.
std::string open_reason(const TuneOutcome& outcome) {
  const auto& arm = outcome.raced.search.arms()[*outcome.found.arm];
  for (const auto& one : arm.constraints)
    if (one.verdict != answer::Verdict::kYes)
      return fmt::format("{} cannot be decided: {}", one.name, one.value);
  const auto& search = outcome.raced.search;
  const auto figures = tune::figures_of(search, *outcome.found.arm);
  if (figures < search.rounds() && search.rounds() >= search.rules().looks.front())
    return fmt::format("only {} of {} rounds measured it", figures, search.rounds());
  const auto other = tune::uncompared(search);
  if (other && search.rounds() >= search.rules().looks.front())
    return fmt::format("{} has no figure to compare: {}", case_of(outcome, *other).label,
                       search.arms()[*other].costs.back().reason());
  return fmt::format("{} {} too few to compare the arms; --resume {} --budget 10m goes on",
                     plural(static_cast<std::int64_t>(outcome.raced.search.rounds()), "round"),
                     outcome.raced.search.rounds() == 1 ? "is" : "are", outcome.raced.folder.string());
}

// By how much the nearest arm misses the limit; empty where its figure has no share.
std::string share_words(const TuneOutcome& outcome) {
  const auto& gate = outcome.request.limits.at(*outcome.found.missed).gate;
  if (!gate || gate->bound <= 0) return {};
  const double by = *outcome.found.missed_by;
  return fmt::format("; that is {} {}", format_percent(by, by < 0.1 ? 1 : 0),
                     gate->op.front() == '<' ? "over" : "short");
}

std::string nearest_sentence(const TuneOutcome& outcome) {
  const auto& arm = outcome.raced.search.arms()[*outcome.found.arm];
  const auto& missed = arm.constraints.at(*outcome.found.missed);
  std::vector<std::string> names;
  for (const auto& limit : outcome.request.limits) names.push_back(limit.written);
  return fmt::format("No arm meets {}; the nearest is {}, which misses {}: {}{}.", join(names, " and "),
                     case_of(outcome, *outcome.found.arm).label, missed.name, missed.value,
                     share_words(outcome));
}

std::string nothing_sentence(const TuneOutcome& outcome) {
  for (const auto& arm : outcome.raced.search.arms())
    if (!arm.reason.empty())
      return fmt::format("No arm could be measured; {}: {}", arm.key, as_sentence(arm.reason));
  for (const auto& arm : outcome.raced.search.arms())
    if (!arm.costs.empty() && !arm.costs.back())
      return fmt::format("No arm has a figure for {}: {}.", outcome.request.objective->words,
                         arm.costs.back().reason());
  return outcome.interrupted ? "Interrupted before an arm was measured."
                             : "The budget was over before an arm was measured.";
}

}  // namespace

std::string arm_words(const TuneOutcome& outcome, std::size_t arm) {
  const auto& one = case_of(outcome, arm);
  const auto& objective = *outcome.request.objective;
  const auto value = metric_words(objective.metric, one), range = metric_range(objective.metric, one);
  if (value.empty()) return one.label;
  return fmt::format("{}: {} {}{}", one.label, objective.words, value,
                     range.empty() ? "" : fmt::format(" ({})", range));
}

std::string convergence_words(const TuneOutcome& outcome) {
  const auto& arm = outcome.raced.cases.at(*outcome.found.arm);
  const auto& searched = outcome.raced.plan.workloads.at(arm.workload).settings;
  std::vector<std::string> changed;
  for (const auto* name : {"batch", "precision", "ranks", "ddp.comm_hook"}) {
    if (std::string_view(name) == "ranks" && has_strong_scaling(arm)) continue;  // the batch of all stays
    const auto* option = config::find_option(name, config::kind_bit(arm.kind));
    if (!option || !arm.settings.has(name) || !searched.has(option->name)) continue;
    const auto values = values_in_plan(arm, *option, arm.settings.list(name));
    if (searched.list(option->name).size() > 1 && !config::is_default(*option, values))
      changed.push_back(
          fmt::format("{} {} (default {})", name, config::value_text(values.front()), option->fallback));
  }
  if (changed.empty()) return {};
  return fmt::format("The figure says nothing about convergence, which {} may change.",
                     join(changed, " and "));
}

std::string sentence_of(const TuneOutcome& outcome) {
  const auto& found = outcome.found;
  switch (found.found) {
    case Found::kBest:
      return fmt::format("Take {}; {} (95 % over all arms and looks).{}", arm_words(outcome, *found.arm),
                         lead_words(outcome), validity_words(outcome));
    case Found::kEqual:
      return equal_sentence(outcome) + validity_words(outcome);
    case Found::kUncertain:
      return fmt::format("The best so far is {}; {}.", arm_words(outcome, *found.arm), open_reason(outcome));
    case Found::kInfeasible:
      return nearest_sentence(outcome);
    case Found::kNothing:
      break;
  }
  return nothing_sentence(outcome);
}

}  // namespace paceline::cli
