// SPDX-License-Identifier: MIT
#include "analysis/traces/attached_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/traces/attached_cost.h"
#include "analysis/traces/attached_evidence.h"
#include "analysis/traces/attached_parts.h"
#include "analysis/traces/attached_rounds.h"
#include "analysis/traces/attached_scopes.h"
#include "analysis/traces/attached_sorts.h"
#include "attach/step_header.h"
#include "base/text.h"
#include "base/units.h"
#include "stats/median.h"

namespace paceline::analysis::traces {
namespace {

constexpr std::size_t kMostSteadySteps = 20'000;  // the newest are kept

RankTrace head_of(const attach::StepFile& file) {
  RankTrace rank;
  rank.file = file.file;
  rank.world = file.header.world;
  rank.rank = file.header.rank;
  rank.rank_assumed = file.header.rank_known == 0;
  rank.host = file.host;
  rank.process = static_cast<std::uint64_t>(file.header.process);
  rank.base_ns = file.header.realtime_ns - file.header.monotonic_ns;
  auto& attached = rank.attached.emplace();
  attached.torch = file.torch, attached.device = file.device, attached.command = file.command;
  attached.exception = attach::field_text(file.header.exception);
  return rank;
}

void note_losses(const attach::StepFile& file, RankTrace& rank) {
  const auto note = [&](std::string text) { rank.notes.push_back(file.file + ": " + std::move(text)); };
  if (file.full) note("it was full before the job ended: later steps are not in it");
  if (file.damaged > 0)
    note(fmt::format("{} cannot be, and {} left out", plural(file.damaged, "record"),
                     file.damaged == 1 ? "is" : "are"));
  if (file.header.lost > 0)
    note(fmt::format("{} scopes found no room: parts of its steps may be too short", file.header.lost));
}

double median_steady(const std::vector<RoundParts>& rounds, const std::vector<StepSort>& sorts) {
  std::vector<double> lengths;
  for (std::size_t i = 0; i < rounds.size(); ++i)
    if (sorts[i] == StepSort::kSteady) lengths.push_back(static_cast<double>(rounds[i].length()));
  return lengths.empty() ? 0 : stats::median(lengths);
}

// Steps that are not steady, with what they take beyond a steady one; they are in no figure of a step.
void set_unsteady(const std::vector<RoundParts>& rounds, const std::vector<StepSort>& sorts,
                  RankTrace& rank) {
  const auto usual = static_cast<std::int64_t>(median_steady(rounds, sorts));
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    rank.attached->observed_ns += rounds[i].length();
    ++rank.attached->steps;
    if (sorts[i] == StepSort::kSteady) continue;
    const auto number = rounds[i].round.number;
    rank.attached->unsteady.push_back({number, sorts[i], rounds[i].length() - usual});
    rank.left_out.push_back({number, std::string(traits_of(sorts[i]).means)});
  }
}

void set_steps(std::vector<RoundParts>& rounds, const std::vector<StepSort>& sorts, RankTrace& rank) {
  const auto steady = static_cast<std::size_t>(std::ranges::count(sorts, StepSort::kSteady));
  std::size_t skip = steady > kMostSteadySteps ? steady - kMostSteadySteps : 0;
  if (skip > 0)
    rank.notes.push_back(
        fmt::format("{}: the figures are of its newest {} steady steps", rank.file, kMostSteadySteps));
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (sorts[i] != StepSort::kSteady) continue;
    if (skip > 0) {
      --skip;
      continue;
    }
    if (steady > kMostSteadySteps && rank.steps.empty()) rank.attached->oldest_kept = rounds[i].round.number;
    RankTimes times;
    times.computing = std::move(rounds[i].computing);
    rank.steps.push_back(finished(std::move(rounds[i].parts), times));
  }
}

}  // namespace

RankTrace attached_rank(const attach::StepFile& file) {
  RankTrace rank = head_of(file);
  note_losses(file, rank);
  const ScopeRoles roles(file);
  const auto rounds = rounds_of(file, roles);
  auto parts = parts_of_rounds(file, roles, rounds);
  for (const auto& round : rounds.all)
    if (!round.watched)
      rank.attached->unwatched.push_back(round.number),
          rank.left_out.push_back({round.number, "the observer was off"});
  rank.has_loader = parts.has_loader, rank.has_backward = parts.has_backward;
  rank.has_optimizer = parts.has_optimizer, rank.has_forward = parts.has_forward;
  rank.communication = parts.communication;
  rank.attached->sharded = roles.sharded(), rank.attached->loads_in_processes = roles.loads_in_processes();
  rank.attached->has_first = rounds.steps_before > 0 || rounds.all.front().number == 0;
  rank.attached->running = file.running;
  rank.attached->last_step = rounds.all.back().number;
  rank.attached->optimizer_steps = rounds.optimizer_steps;
  rank.attached->other_steps = rounds.steps_before + rounds.steps_behind;
  rank.attached->watching = watching_pairs(rounds.all);
  if (parts.all.empty()) return rank;
  rank.attached->micro_steps = passes_per_step(parts.all);
  const auto sorts = sorts_of(parts.all, roles);
  set_unsteady(parts.all, sorts, rank);
  rank.attached->counters = counter_growth(file, rounds.all, rank.attached->unsteady);
  set_steps(parts.all, sorts, rank);
  return rank;
}

}  // namespace paceline::analysis::traces
