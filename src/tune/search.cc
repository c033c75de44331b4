// SPDX-License-Identifier: MIT
#include "tune/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "stats/median.h"
#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::tune {
namespace {

using answer::Verdict;

bool is_measured(const Arm& arm) {
  return std::ranges::any_of(arm.costs, [](const Number& cost) { return static_cast<bool>(cost); });
}

std::string slower_words(const stats::Interval& ratio, const std::string& best) {
  return fmt::format("at least {:.3g} times the cost of {}", ratio.low, best);
}

}  // namespace

bool meets_all(const Arm& arm) {
  return std::ranges::all_of(arm.constraints,
                             [](const Constraint& one) { return one.verdict == Verdict::kYes; });
}

Search::Search(std::vector<std::string> keys, Rules rules) : rules_(std::move(rules)) {
  auto sorted = keys;
  std::ranges::sort(sorted);
  if (keys.empty() || std::ranges::adjacent_find(sorted) != sorted.end() || rules_.looks.empty())
    throw Error(ErrorCode::kInternal, "a search needs arms with unique keys and a look");
  for (auto& key : keys) arms_.push_back({.key = std::move(key)});
}

bool Search::is_look() const {
  return std::ranges::find(rules_.looks, rounds_) != rules_.looks.end();
}

std::vector<std::size_t> Search::next() const {
  std::vector<std::size_t> racing;
  for (std::size_t i = 0; i < arms_.size(); ++i)
    if (arms_[i].fate == Fate::kRacing) racing.push_back(i);
  const bool alone = racing.size() == 1 && arms_[racing.front()].rounds >= rules_.enough;
  const bool blind = rounds_ >= rules_.looks.front() && !best();
  if (rounds_ >= rules_.looks.back() || alone || blind) return {};
  std::ranges::sort(racing, {}, [&](std::size_t i) -> const std::string& { return arms_[i].key; });
  return racing;
}

void Search::apply(const Outcome& outcome) {
  auto& arm = arms_.at(outcome.arm);
  if (arm.fate != Fate::kRacing) return;
  arm.costs.resize(rounds_, Number::missing("not measured"));
  arm.costs.push_back(outcome.cost && *outcome.cost > 0 ? outcome.cost
                      : outcome.cost                    ? Number::missing("the figure is 0")
                                                        : outcome.cost);
  ++arm.rounds;
  arm.constraints = outcome.constraints;
  if (outcome.failed.empty()) return;
  arm.fate = Fate::kFailed;
  arm.reason = outcome.failed;
}

void Search::drop_missed(Arm& arm, bool at_look) const {
  if (arm.fate != Fate::kRacing) return;
  for (const auto& one : arm.constraints) {
    if (one.verdict != Verdict::kNo || !(at_look || one.exact)) continue;
    arm.fate = Fate::kMissed;
    arm.reason = fmt::format("misses {}: {}", one.name, one.value);
    return;
  }
}

void Search::drop_slower() {
  const auto leader = best();
  if (!leader || !meets_all(arms_[*leader])) return;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    auto& arm = arms_[i];
    if (i == *leader || arm.fate != Fate::kRacing) continue;
    arm.ratio = ratio(i, *leader);
    arm.over = leader;
    if (!arm.ratio || arm.ratio->low <= 1 + rules_.margin) continue;
    arm.fate = Fate::kDropped;
    arm.reason = slower_words(*arm.ratio, arms_[*leader].key);
  }
}

// Costs more than that of an arm that cannot be taken are no reason to leave.
void Search::bring_back() {
  for (auto& arm : arms_) {
    if (arm.fate != Fate::kDropped) continue;
    const auto& over = arms_[*arm.over];
    if (over.fate != Fate::kMissed && over.fate != Fate::kFailed) continue;
    arm.fate = Fate::kRacing;
    arm.reason.clear();
    arm.ratio.reset();
    arm.over.reset();
  }
}

void Search::take(const std::vector<Outcome>& outcomes) {
  for (const auto& outcome : outcomes) apply(outcome);
  ++rounds_;
  const bool look = is_look();
  for (auto& arm : arms_) drop_missed(arm, look);
  bring_back();
  if (look) drop_slower();
}

// Median over rounds of the logarithm of each racing arm's cost, relative to the median of all racing arms in
// the same round: a drift cancels, and a round that a neighbour spoiled counts as one.
std::vector<double> Search::levels() const {
  std::vector<std::vector<double>> relative(arms_.size());
  for (std::size_t round = 0; round < rounds_; ++round) {
    std::vector<std::pair<std::size_t, double>> costs;
    std::vector<double> logs;
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      const auto& arm = arms_[i];
      if (arm.fate != Fate::kRacing || round >= arm.costs.size() || !arm.costs[round]) continue;
      costs.emplace_back(i, std::log(*arm.costs[round]));
      logs.push_back(costs.back().second);
    }
    for (const auto& [i, log] : costs) relative[i].push_back(log - stats::median(logs));
  }
  std::vector<double> levels;
  for (const auto& one : relative) levels.push_back(one.empty() ? HUGE_VAL : stats::median(one));
  return levels;
}

std::optional<std::size_t> Search::best() const {
  std::optional<std::size_t> found;
  const auto level = levels();
  const auto comes_before = [&](std::size_t a, std::size_t b) {
    return std::tuple(!meets_all(arms_[a]), level[a], arms_[a].key) <
           std::tuple(!meets_all(arms_[b]), level[b], arms_[b].key);
  };
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    if (arms_[i].fate != Fate::kRacing || !is_measured(arms_[i])) continue;
    if (!found || comes_before(i, *found)) found = i;
  }
  return found;
}

std::vector<double> Search::log_ratios(std::size_t arm, std::size_t over) const {
  const auto &mine = arms_.at(arm).costs, &theirs = arms_.at(over).costs;
  std::vector<double> d;
  for (std::size_t r = 0; r < std::min(mine.size(), theirs.size()); ++r)
    if (mine[r] && theirs[r]) d.push_back(std::log(*mine[r] / *theirs[r]));
  return d;
}

std::optional<double> Search::estimate(std::size_t arm, std::size_t over) const {
  const auto d = log_ratios(arm, over);
  if (d.empty()) return std::nullopt;
  return std::exp(stats::median(d));
}

std::optional<stats::Interval> Search::ratio(std::size_t arm, std::size_t over) const {
  const auto d = log_ratios(arm, over);
  if (d.size() < 2) return std::nullopt;
  const auto tests = static_cast<double>(std::max<std::size_t>(arms_.size() - 1, 1) * rules_.looks.size());
  const auto n = static_cast<double>(d.size());
  const double centre = stats::mean(d);
  const double half =
      stats::student_t(n - 1, 1 - 2 * rules_.alpha / tests) * stats::stddev(d).value_or(0) / std::sqrt(n);
  return stats::Interval{std::exp(centre - half), std::exp(centre + half)};
}

}  // namespace paceline::tune
