// SPDX-License-Identifier: MIT
#include "tune/conclusion.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace paceline::tune {
namespace {

// The constraint with the largest excess; none where nothing is missed for certain.
std::optional<std::size_t> most_missed(const Arm& arm) {
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < arm.constraints.size(); ++i) {
    const auto& one = arm.constraints[i];
    if (one.verdict == answer::Verdict::kYes || !one.excess) continue;
    if (!worst || *one.excess > *arm.constraints[*worst].excess) worst = i;
  }
  return worst;
}

Conclusion nearest(const Search& search) {
  Conclusion result;
  const auto& arms = search.arms();
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const auto missed = most_missed(arms[i]);
    if (arms[i].fate != Fate::kMissed || !missed) continue;
    const auto excess = *arms[i].constraints[*missed].excess;
    const bool nearer =
        !result.arm || std::tie(excess, arms[i].key) < std::tie(*result.missed_by, arms[*result.arm].key);
    if (nearer) result = {Found::kInfeasible, i, {i}, {}, excess, missed};
  }
  return result;
}

std::vector<std::size_t> not_told_apart(const Search& search, std::size_t best) {
  const auto& arms = search.arms();
  std::vector<std::size_t> equals;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const bool comparable = meets_all(arms[i]) || !meets_all(arms[best]);
    if (arms[i].fate == Fate::kRacing && comparable && search.estimate(i, best)) equals.push_back(i);
  }
  std::erase_if(equals, [&](std::size_t i) {
    const auto ratio = search.ratio(i, best);
    return i != best && ratio && ratio->low > 1 + search.rules().margin;
  });
  std::ranges::sort(equals, {}, [&](std::size_t i) {
    return std::tuple(i != best, *search.estimate(i, best), arms[i].key);
  });
  return equals;
}

std::size_t preferred(const Search& search, const std::vector<std::size_t>& equals,
                      const std::vector<Number>& memory_bytes, const std::vector<bool>& verified) {
  const auto best = equals.front();
  const auto holds = [&](std::size_t i) { return i < verified.size() && verified[i]; };
  const auto cheap = [&](std::size_t i) { return *search.estimate(i, best) <= 1 + search.rules().margin; };
  const bool any_verified = std::ranges::any_of(equals, [&](std::size_t i) { return cheap(i) && holds(i); });
  const auto allowed = [&](std::size_t i) { return cheap(i) && (!any_verified || holds(i)); };
  const auto near = [&](std::size_t i) { return allowed(i) && memory_bytes.at(i); };
  double least = HUGE_VAL;
  for (const auto i : equals)
    if (near(i)) least = std::min(least, *memory_bytes[i]);
  const auto chosen = std::ranges::find_if(
      equals, [&](std::size_t i) { return near(i) && *memory_bytes[i] <= kSameMemory * least; });
  if (chosen != equals.end()) return *chosen;
  return *std::ranges::find_if(equals, allowed);  // no memory is known
}

// Holds for an arm that came back late.
bool has_few_figures(const Search& search, std::size_t arm) {
  const auto figures = figures_of(search, arm);
  return figures < search.rules().enough && 2 * figures <= search.rounds();
}

// Arms that cannot be taken do not count.
std::optional<double> lead(const Search& search, std::size_t best) {
  std::optional<double> least;
  for (std::size_t i = 0; i < search.arms().size(); ++i) {
    const auto& arm = search.arms()[i];
    if (arm.fate == Fate::kMissed || arm.fate == Fate::kFailed) continue;
    auto ratio = search.ratio(i, best);
    if (arm.fate == Fate::kDropped && arm.over == best) ratio = arm.ratio;
    if (i != best && ratio) least = std::min(least.value_or(ratio->low), ratio->low);
  }
  return least;
}

}  // namespace

std::size_t figures_of(const Search& search, std::size_t arm) {
  return static_cast<std::size_t>(std::ranges::count_if(
      search.arms().at(arm).costs, [](const Number& cost) { return static_cast<bool>(cost); }));
}

std::optional<std::size_t> uncompared(const Search& search) {
  const auto best = search.best();
  for (std::size_t i = 0; best && i < search.arms().size(); ++i)
    if (search.arms()[i].fate == Fate::kRacing && !search.estimate(i, *best)) return i;
  return std::nullopt;
}

Conclusion conclude(const Search& search, const std::vector<Number>& memory_bytes,
                    const std::vector<bool>& verified) {
  const auto best = search.best();
  if (!best) return nearest(search);
  Conclusion result;
  result.equals = not_told_apart(search, *best);
  const bool compared = search.rounds() >= search.rules().looks.front();
  if (!compared || has_few_figures(search, *best) || !meets_all(search.arms()[*best]) || uncompared(search)) {
    result.found = Found::kUncertain;
    result.arm = best;
    return result;
  }
  result.found = result.equals.size() == 1 ? Found::kBest : Found::kEqual;
  result.arm = preferred(search, result.equals, memory_bytes, verified);
  if (result.found == Found::kBest) result.ahead = lead(search, *best);
  return result;
}

std::optional<stats::Interval> cost_over_best(const Search& search, std::size_t arm) {
  if (search.arms().at(arm).fate == Fate::kDropped) return search.arms()[arm].ratio;
  const auto best = search.best();
  if (search.rounds() < search.rules().looks.front()) return std::nullopt;
  return best && *best != arm ? search.ratio(arm, *best) : std::nullopt;
}

std::vector<std::size_t> pareto_front(const std::vector<Number>& first, const std::vector<Number>& second) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i] && second.at(i)) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::tuple(*first[i], *second[i], i); });
  std::vector<std::size_t> front;
  double least = HUGE_VAL;
  for (const auto i : order)
    if (*second[i] < least) least = *second[i], front.push_back(i);
  return front;
}

}  // namespace paceline::tune
