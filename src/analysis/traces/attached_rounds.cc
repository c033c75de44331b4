// SPDX-License-Identifier: MIT
#include "analysis/traces/attached_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/units.h"

namespace paceline::analysis::traces {
namespace {

using attach::StepFile;
using attach::StepKind;
using attach::StepRecord;

constexpr std::size_t kMostOptimizers = 64, kMostCollectives = 1024;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 62;
constexpr std::size_t kCallsLookedAt = 20'000;
constexpr double kRecurs = 0.95;  // share of values that recur with a period
// Share of a step in which the observer may be off: it is switched just behind an optimizer step.
constexpr double kEdge = 0.02;

std::vector<const StepRecord*> records_of(const StepFile& file, StepKind kind) {
  std::vector<const StepRecord*> all;
  for (const auto& record : file.records)
    if (is_kind(record, kind)) all.push_back(&record);
  return all;
}

// The thread of most steps, else of most scopes.
std::uint16_t thread_that_trains(const StepFile& file) {
  std::map<std::uint16_t, std::int64_t> steps, scopes;
  for (const auto& record : file.records) {
    if (is_kind(record, StepKind::kStep)) ++steps[record.thread];
    if (is_kind(record, StepKind::kScope)) ++scopes[record.thread];
  }
  const auto& counts = steps.empty() ? scopes : steps;
  const auto count = [](const auto& one) { return one.second; };
  return counts.empty() ? std::uint16_t{0} : std::ranges::max_element(counts, {}, count)->first;
}

// Times at which a step ends, with its number.
struct RoundMark {
  std::int64_t at = 0, number = 0;
};

// The optimizer that is at work the longest, of equal ones the first to step. Of many that each step once,
// as where each parameter has one, the first is meant.
std::uint64_t lasting(const std::vector<std::uint64_t>& who) {
  std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> first_and_last;
  for (std::size_t i = 0; i < who.size(); ++i)
    first_and_last.try_emplace(who[i], i, i).first->second.second = i;
  std::size_t longest = 0;
  for (const auto& [one, seen] : first_and_last) longest = std::max(longest, seen.second - seen.first);
  for (const auto& [one, seen] : first_and_last)
    if (2 * (seen.second - seen.first) >= longest) return one;
  return who.front();
}

// Optimizers of a round, in order: those of the longest stretch in which they recur, since a job may begin or
// go on with other ones. The round begins as the job did if the job began with it.
std::vector<std::uint64_t> pattern_of(const std::vector<std::uint64_t>& who) {
  const std::size_t period = period_of(who, kMostOptimizers, who.size());
  if (period == 0) return {lasting(who)};
  std::size_t best = 0, length = 0;
  for (std::size_t from = 0, i = period; i <= who.size(); ++i) {
    if (i < who.size() && who[i] == who[i - period]) continue;
    if (i - from > length) best = from, length = i - from;
    from = i - period + 1;
  }
  const auto window = [&](std::size_t at) {
    const auto begin = who.begin() + static_cast<std::ptrdiff_t>(at);
    return std::vector<std::uint64_t>(begin, begin + static_cast<std::ptrdiff_t>(period));
  };
  auto twice = window(best);
  twice.insert(twice.end(), twice.begin(), twice.begin() + static_cast<std::ptrdiff_t>(period));
  const auto beginning = window(0);
  const bool same =
      std::search(twice.begin(), twice.end(), beginning.begin(), beginning.end()) != twice.end();
  return same ? beginning : window(best);
}

// Optimizers that take turns make one step together: their smallest period.
std::vector<RoundMark> optimizer_marks(const std::vector<const StepRecord*>& steps, Rounds& rounds) {
  std::vector<std::uint64_t> who;
  for (const auto* one : steps) who.push_back(one->group);
  const auto pattern = pattern_of(who);
  const std::size_t period = pattern.size();
  rounds.optimizer_steps = static_cast<std::int64_t>(period);
  const auto turns = std::max<std::int64_t>(1, std::ranges::count(pattern, pattern.back()));
  std::vector<RoundMark> marks;
  std::size_t first = 0, end = 0;
  for (std::size_t i = 0; i + period <= who.size();) {
    const auto at = who.begin() + static_cast<std::ptrdiff_t>(i);
    if (!std::equal(pattern.begin(), pattern.end(), at)) {
      ++i;  // a round that lacks a step of some optimizer
      continue;
    }
    if (marks.empty()) first = i;
    const auto& last = *steps[i + period - 1];
    marks.push_back({last.begin_ns, (static_cast<std::int64_t>(last.value % kMostSteps) - 1) / turns});
    end = i += period;
  }
  rounds.steps_before = static_cast<std::int64_t>(first);
  const std::size_t behind = who.size() - end;
  rounds.steps_behind = behind < period ? 0 : static_cast<std::int64_t>(behind);
  return marks;
}

// Without an optimizer's scope: the collectives recur, and the longest pause among them ends a step.
std::vector<RoundMark> collective_marks(const std::vector<const StepRecord*>& calls) {
  std::vector<std::uint64_t> what;
  for (const auto* one : calls) what.push_back(one->value * attach::kNameSlots + one->name);
  const std::size_t period = period_of(what, kMostCollectives, kCallsLookedAt);
  if (period == 0) return {};
  std::vector<double> pauses(period);
  for (std::size_t i = 0; i + 1 < calls.size(); ++i)
    pauses[i % period] += static_cast<double>(calls[i + 1]->begin_ns - calls[i]->end_ns);
  const auto last = static_cast<std::size_t>(std::ranges::max_element(pauses) - pauses.begin());
  std::vector<RoundMark> marks;
  for (std::size_t i = last; i < calls.size(); i += period)
    marks.push_back({calls[i]->end_ns, std::ssize(marks)});
  return marks;
}

std::vector<RoundMark> loader_marks(const StepFile& file, const ScopeRoles& roles, std::uint16_t thread) {
  std::vector<RoundMark> marks;
  for (const auto& record : file.records)
    if (is_kind(record, StepKind::kScope) && roles(record) == ScopeRole::kLoader && record.thread == thread)
      marks.push_back({record.begin_ns, std::ssize(marks)});
  return marks;
}

[[noreturn]] void refuse_without_rounds(const StepFile& file) {
  if (file.running)
    throw Error(ErrorCode::kData,
                fmt::format("{} has no two steps so far: rank {} of {} is still running; wait for more steps",
                            file.file, file.header.rank, file.header.world));
  std::int64_t scopes = 0, calls = 0;
  for (const auto& record : file.records) {
    scopes += is_kind(record, StepKind::kScope) ? 1 : 0;
    calls += is_kind(record, StepKind::kCommunication) ? 1 : 0;
  }
  throw Error(
      ErrorCode::kData,
      fmt::format(
          "{} has no two steps: rank {} of {} left {} and {}, and neither an optimizer of torch.optim "
          "nor collectives nor a DataLoader that repeat; let it train for some steps",
          file.file, file.header.rank, file.header.world, plural(scopes, "scope"),
          plural(calls, "collective")));
}

// Times in which the observer was off.
Intervals times_off(const StepFile& file) {
  Intervals off;
  bool is_off = false;
  for (const auto& record : file.records) {
    const bool goes_off = is_kind(record, StepKind::kObserverOff);
    if (is_off && is_kind(record, StepKind::kObserverOn)) off.back().end = record.begin_ns, is_off = false;
    if (goes_off && !is_off)
      off.push_back({record.begin_ns, file.records.back().begin_ns + 1}), is_off = true;
  }
  return merged(std::move(off));
}

void set_watched(std::vector<Round>& rounds, const Intervals& off) {
  auto next = off.begin();
  for (auto& round : rounds) {
    while (next != off.end() && next->end <= round.span.begin) ++next;
    std::int64_t unseen = 0;
    for (auto one = next; one != off.end() && one->begin < round.span.end; ++one)
      unseen += std::min(one->end, round.span.end) - std::max(one->begin, round.span.begin);
    round.watched =
        static_cast<double>(unseen) <= kEdge * static_cast<double>(round.span.end - round.span.begin);
  }
}

void set_traced(std::vector<Round>& rounds, const std::vector<const StepRecord*>& steps) {
  auto step = steps.begin();
  for (auto& round : rounds)
    for (; step != steps.end() && (*step)->begin_ns <= round.span.end; ++step)
      round.traced |= (*step)->begin_ns > round.span.begin && ((*step)->flags & attach::kTraced) != 0;
}

}  // namespace

std::size_t period_of(const std::vector<std::uint64_t>& values, std::size_t most, std::size_t looked_at) {
  const std::size_t count = std::min(values.size(), looked_at);
  for (std::size_t period = 1; period <= std::min(most, count / 2); ++period) {
    std::size_t equal = 0;
    for (std::size_t i = period; i < count; ++i) equal += values[i] == values[i - period] ? 1 : 0;
    if (static_cast<double>(equal) >= kRecurs * static_cast<double>(count - period)) return period;
  }
  return 0;
}

Rounds rounds_of(const StepFile& file, const ScopeRoles& roles) {
  Rounds rounds;
  rounds.thread = thread_that_trains(file);
  const auto steps = records_of(file, StepKind::kStep);
  std::vector<RoundMark> marks;
  if (steps.size() > 1) marks = optimizer_marks(steps, rounds);
  if (marks.size() < 2)
    marks = collective_marks(records_of(file, StepKind::kCommunication)), rounds.end = RoundEnd::kCollectives;
  if (marks.size() < 2) marks = loader_marks(file, roles, rounds.thread), rounds.end = RoundEnd::kLoader;
  if (marks.size() < 2) refuse_without_rounds(file);
  if (rounds.end != RoundEnd::kOptimizer) rounds.steps_before = rounds.steps_behind = 0;
  // A file that begins within the first step, at its optimizer, does not have that step.
  const auto first = std::ranges::find_if(file.records, [](const StepRecord& one) {
    return is_kind(one, StepKind::kScope) || is_kind(one, StepKind::kBackward) ||
           is_kind(one, StepKind::kCommunication);
  });
  if (rounds.end == RoundEnd::kOptimizer && rounds.steps_before == 0 && first != file.records.end() &&
      first->begin_ns < marks.front().at)
    rounds.all.push_back({marks.front().number, {first->begin_ns, marks.front().at}});
  for (std::size_t i = 1; i < marks.size(); ++i)
    if (marks[i].at > marks[i - 1].at && marks[i].number > marks[i - 1].number)
      rounds.all.push_back({marks[i].number, {marks[i - 1].at, marks[i].at}});
  if (rounds.all.empty()) refuse_without_rounds(file);
  set_watched(rounds.all, times_off(file));
  set_traced(rounds.all, steps);
  return rounds;
}

}  // namespace paceline::analysis::traces
