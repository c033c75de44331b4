// SPDX-License-Identifier: MIT
#include "analysis/traces/attached_sorts.h"

#include <algorithm>
#include <map>

#include "stats/median.h"

namespace paceline::analysis::traces {
namespace {

constexpr double kHabit = 0.1;      // share of steps from which on a sort is a habit
constexpr double kSlowStart = 2;    // of the median step
constexpr std::size_t kStart = 10;  // steps that may be slow at the start
constexpr double kRecompiled = 5;   // of the median forward pass
constexpr double kLongPause = 5;    // of the median pause; and longer than the median step
constexpr std::int64_t kLeastPause_ns = 10'000'000, kLeastCompiling_ns = 10'000'000;

template <typename Get>
double median_over_rounds(const std::vector<RoundParts>& rounds, Get get) {
  std::vector<double> values;
  for (const auto& one : rounds) values.push_back(static_cast<double>(get(one)));
  return stats::median(values);
}

template <typename Get>
std::int64_t most_frequent(const std::vector<RoundParts>& rounds, Get get) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const auto& one : rounds) ++counts[get(one)];
  return std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })->first;
}

// Figures that most steps of a rank have.
struct UsualStep {
  double length, forward, pause;
  std::int64_t loads, passes, idle_passes, backwards;

  explicit UsualStep(const std::vector<RoundParts>& rounds)
      : length(median_over_rounds(rounds, [](const auto& r) { return r.length(); })),
        forward(median_over_rounds(rounds, [](const auto& r) { return r.forward_ns; })),
        pause(median_over_rounds(rounds, [](const auto& r) { return r.pause_ns; })),
        loads(most_frequent(rounds, [](const auto& r) { return r.loads; })),
        passes(most_frequent(rounds, [](const auto& r) { return r.passes; })),
        idle_passes(most_frequent(rounds, [](const auto& r) { return r.idle_passes; })),
        backwards(passes_per_step(rounds)) {}
};

// One question to a step for each sort but warm-up, which is about several.
class SortRules {
 public:
  SortRules(const UsualStep& usual, const ScopeRoles& roles) : usual_(usual), roles_(roles) {}

  [[nodiscard]] bool is(StepSort sort, const RoundParts& one) const {
    switch (sort) {
      case StepSort::kUneven:
        return one.backwards != usual_.backwards && !is_skipped(one);
      case StepSort::kEpoch:
        return one.loads > expected(usual_.loads, one);
      case StepSort::kSkipped:
        return is_skipped(one);
      case StepSort::kCompiling:
        return is_compiling(one);
      case StepSort::kEvaluation:
        return one.idle_passes > usual_.idle_passes || one.passes > expected(usual_.passes, one) ||
               one.loads > expected(usual_.loads, one) + 1;
      case StepSort::kPause:
        return is_pause(one);
      case StepSort::kTraced:
        return one.round.traced;
      default:
        return false;
    }
  }

 private:
  // Scales a usual number by the backward passes of a step, which may be more than usual.
  [[nodiscard]] std::int64_t expected(std::int64_t usual, const RoundParts& one) const {
    if (usual_.backwards == 0) return usual;
    return usual * std::max(one.backwards, usual_.backwards) / usual_.backwards;
  }
  [[nodiscard]] bool is_skipped(const RoundParts& one) const {
    return usual_.backwards > 0 && one.backwards > usual_.backwards && one.backwards % usual_.backwards == 0;
  }
  [[nodiscard]] bool is_compiling(const RoundParts& one) const {
    if (one.compiling_ns >= kLeastCompiling_ns) return true;
    return roles_.compiled() && one.forward_ns >= kLeastCompiling_ns && usual_.forward > 0 &&
           static_cast<double>(one.forward_ns) > kRecompiled * usual_.forward;
  }
  // Processes of a loader start in a time in which nothing is seen, either.
  [[nodiscard]] bool is_pause(const RoundParts& one) const {
    if (roles_.loads_in_processes() && is(StepSort::kEpoch, one)) return false;
    const auto pause = static_cast<double>(one.pause_ns);
    return one.pause_ns >= kLeastPause_ns && pause > usual_.length && pause > kLongPause * usual_.pause;
  }

  const UsualStep& usual_;
  const ScopeRoles& roles_;
};

// The first step of the job, and those at its start that are slow. Most files begin with the second one.
std::size_t warm_up(const std::vector<RoundParts>& rounds, double usual_length) {
  const auto number = rounds.front().round.number;
  if (number > 1) return 0;
  std::size_t count = number == 0 ? 1 : 0;
  for (std::size_t i = count; i < std::min(kStart, rounds.size()); ++i)
    if (static_cast<double>(rounds[i].length()) > kSlowStart * usual_length) count = i + 1;
  return count;
}

bool is_habit(std::size_t count, std::size_t all) {
  return count > 1 && static_cast<double>(count) > kHabit * static_cast<double>(all);
}

}  // namespace

std::int64_t passes_per_step(const std::vector<RoundParts>& rounds) {
  return most_frequent(rounds, [](const auto& r) { return r.backwards; });
}

std::vector<StepSort> sorts_of(const std::vector<RoundParts>& rounds, const ScopeRoles& roles) {
  std::vector<StepSort> sorts(rounds.size(), StepSort::kSteady);
  if (rounds.empty()) return sorts;
  const UsualStep usual(rounds);
  const SortRules rules(usual, roles);
  const std::size_t first = warm_up(rounds, usual.length);
  std::fill_n(sorts.begin(), first, StepSort::kWarmup);
  for (std::size_t at = 1; at < kStepSorts.size(); ++at) {
    std::vector<std::size_t> found;
    std::size_t behind_start = 0;
    for (std::size_t i = 0; i < rounds.size(); ++i)
      if (rules.is(static_cast<StepSort>(at), rounds[i]))
        found.push_back(i), behind_start += i >= first ? 1 : 0;
    const bool can_be_habit = static_cast<StepSort>(at) != StepSort::kTraced;
    if (can_be_habit && is_habit(behind_start, rounds.size())) continue;
    for (const auto i : found) sorts[i] = std::max(sorts[i], static_cast<StepSort>(at));
  }
  return sorts;
}

}  // namespace paceline::analysis::traces
