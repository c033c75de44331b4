// SPDX-License-Identifier: MIT
#include "result/figures/late_pattern.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "stats/autocorrelation.h"
#include "stats/order_statistics.h"
#include "stats/placements.h"
#include "stats/quantile.h"
#include "stats/segments.h"
#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::result {
namespace {

// Standard deviations between late exchanges and the rest: to test a pattern, and to suspect a rank untested.
constexpr double kApart = 3.5, kClear = 4;
// Relative to the lateness: the level of the rest, and what all ranks take longer in late exchanges.
constexpr double kOnTime = 0.25, kCommonWork = 0.1;
constexpr double kCommonErrors = 2;  // of the level in late exchanges, beyond that
constexpr double kDisturbed = 0.05;  // of the exchanges of a healthy rank, by pauses of any length
constexpr double kAnyLateness = -std::numeric_limits<double>::infinity();
constexpr double kTwoSets = 2;  // sets of exchanges that each family of tests looks at
constexpr std::size_t kFewest = kFewestLate;
constexpr std::size_t kFewestClear = 2;      // late exchanges that are no single accident
constexpr std::size_t kLongestPeriod = 100;  // in exchanges

double own_sum(const RankAccount& rank) {
  return rank.own_sum();
}

LatePattern pattern_of(std::vector<bool> late, std::size_t every = 0) {
  LatePattern pattern{.late = std::move(late), .every = every};
  for (std::size_t i = 0; i < pattern.late.size(); ++i) {
    if (!pattern.late[i]) continue;
    if (pattern.count++ == 0) pattern.first = i;
    pattern.last = i;
  }
  return pattern;
}

// Exchanges `first`, `first` + `step`, …
std::vector<bool> exchanges_in(std::size_t n, std::size_t first, std::size_t count, std::size_t step = 1) {
  std::vector<bool> late(n);
  for (std::size_t k = 0; k < count; ++k) late[first + k * step] = true;
  return late;
}

// Pooled standard deviation of the other ranks within an exchange, each about its own level; 0 if there is
// only one other rank.
double spread_within(const std::vector<StepAccount>& accounts, std::size_t at) {
  const std::size_t world = accounts.front().ranks.size(), n = accounts.size();
  if (world < 3 || n < 2) return 0;
  std::vector<double> centres(n), own(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto& rank : accounts[i].ranks) centres[i] += rank.own_sum();
    centres[i] = (centres[i] - accounts[i].ranks[at].own_sum()) / static_cast<double>(world - 1);
  }
  double variances = 0;
  for (std::size_t r = 0; r < world; ++r) {
    if (r == at) continue;
    for (std::size_t i = 0; i < n; ++i) own[i] = accounts[i].ranks[r].own_sum() - centres[i];
    variances += std::pow(stats::stddev(own).value_or(0), 2);
  }
  return std::sqrt(variances / static_cast<double>(world - 2));
}

// Lateness in the late exchanges and in the rest.
struct Levels {
  double late = 0, rest = 0;
  double within = 0;  // standard deviation about them, or that of the other ranks if larger
  double tau = 1;     // autocorrelation time about them
};

// Tests the patterns of one rank against chance.
class Search {
 public:
  Search(const std::vector<StepAccount>& accounts, const LastRanks& last, std::size_t rank)
      : last_(last),
        rank_(rank),
        n_(accounts.size()),
        world_(accounts.front().ranks.size()),
        longest_(std::min(kLongestPeriod, (n_ - 1) / (kFewest - 1))),
        times_(beside_others(accounts, rank)),
        spread_(spread_within(accounts, rank)) {}

  LatePattern best() && {
    best_ = always();
    by_level(always(), 1);
    by_count(always(), kAnyLateness);
    by_level(edge(), 2 * static_cast<double>(n_ - std::min(n_ - 1, kFewest)));
    const auto clearly = marks(last_.clearly);
    by_shape(clearly);
    by_count(pattern_of(clearly.own), last_.clearly);
    return std::move(best_);
  }

 private:
  // Exchanges whose last rank was late by at least a limit, and those in which this rank was.
  struct Marks {
    std::size_t all = 0;
    std::vector<bool> own;
  };
  [[nodiscard]] Marks marks(double limit) const {
    Marks found{.own = std::vector<bool>(n_)};
    for (std::size_t i = 0; i < n_; ++i)
      if (last_.rank[i] && last_.late[i] >= limit) ++found.all, found.own[i] = last_.rank[i] == rank_;
    return found;
  }

  [[nodiscard]] LatePattern always() const { return pattern_of(std::vector<bool>(n_, true)); }

  // The exchanges before one or from one on, if it is late there.
  [[nodiscard]] LatePattern edge() const {
    const double cut = stats::cut_between_groups(times_.late);
    std::vector<double> scores;
    for (const double late : times_.late) scores.push_back(late - cut);
    const auto found = stats::best_segment(scores);
    const bool at_edge = found.first == 0 || found.first + found.count == n_;
    return pattern_of(exchanges_in(n_, found.first, at_edge ? found.count : 0));
  }

  [[nodiscard]] Levels levels_of(const LatePattern& pattern) const {
    std::vector<double> late, rest, left = times_.late;
    for (std::size_t i = 0; i < n_; ++i) (pattern.late[i] ? late : rest).push_back(times_.late[i]);
    Levels levels{.late = stats::mean(late), .rest = rest.empty() ? 0 : stats::mean(rest)};
    double squares = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      left[i] -= pattern.late[i] ? levels.late : levels.rest;
      squares += left[i] * left[i];
    }
    levels.within = std::max(spread_, std::sqrt(squares / std::max(1.0, freedom_of(pattern))));
    levels.tau = stats::tau_geyer(left);
    return levels;
  }
  [[nodiscard]] double freedom_of(const LatePattern& pattern) const {
    return static_cast<double>(n_) - (pattern.always() ? 1 : 2);
  }

  static bool apart(const Levels& at, double deviations = kApart) {
    return at.late > 0 && at.late - at.rest >= deviations * at.within &&
           std::abs(at.rest) <= kOnTime * at.late;
  }

  // Nothing that all ranks do makes it late: the others take no longer in these exchanges than usually.
  [[nodiscard]] bool others_are_on_time(const LatePattern& pattern, const Levels& at) const {
    if (pattern.always()) return true;
    std::vector<double> beside, rest;
    for (std::size_t i = 0; i < n_; ++i) (pattern.late[i] ? beside : rest).push_back(times_.others[i]);
    const double error =
        stats::kMadToSigma * stats::mad(rest) *
        std::sqrt(1 / static_cast<double>(beside.size()) + 1 / static_cast<double>(rest.size()));
    return stats::mean(beside) - stats::median(rest) <= kCommonWork * at.late + kCommonErrors * error;
  }

  // Keeps the pattern if chance explains it less than the best one.
  void offer(LatePattern pattern, bool clear, double chance) {
    const bool enough = pattern.count >= kFewest && chance < best_.chance;
    const bool first = clear && !best_.clear && best_.chance >= 1 && pattern.count >= kFewestClear;
    if (!enough && !first) return;
    best_ = std::move(pattern);
    best_.clear = clear;
    best_.chance = enough ? chance : 1;
  }

  // Student's t of its level against that of the others, for each of `sets`. Pauses of any length are as
  // likely as in a healthy job (Huber's contamination).
  void by_level(LatePattern pattern, double sets) {
    if (pattern.count == 0) return;
    const auto at = levels_of(pattern);
    if (!apart(at) || !others_are_on_time(pattern, at)) return;
    const auto count = static_cast<double>(pattern.count);
    const auto ranks = static_cast<double>(world_ - 1);
    const double freedom = std::max(1.0, ranks * freedom_of(pattern) / at.tau);
    const double t = at.late / at.within * std::sqrt(std::max(1.0, count / at.tau));
    const double noise = at.within > 0 ? stats::student_t_above(freedom, t) : 0;
    offer(std::move(pattern), apart(at, kClear),
          kTwoSets * sets * static_cast<double>(world_) * (noise + std::pow(kDisturbed, count)));
  }

  // Binomial: how often it is the last among exchanges whose last rank is late by `limit`. Where these do not
  // lie apart, disturbances of several exchanges in a row count less.
  void by_count(LatePattern pattern, double limit) {
    if (pattern.count == 0) return;
    const auto at = levels_of(pattern);
    std::vector<double> was_last(n_);
    double last = 0, all = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      was_last[i] = last_.rank[i] == rank_ ? 1 : 0;
      if (last_.rank[i] && last_.late[i] >= limit) last += was_last[i], ++all;
    }
    const double tau = apart(at) && !pattern.always() ? 1 : stats::tau_geyer(was_last);
    const auto whole = [](double x) { return static_cast<std::int64_t>(std::floor(x + 1e-9)); };
    const auto ranks = static_cast<double>(world_);
    const double chance = 1 - stats::binomial_cdf(whole(all / tau), 1 / ranks, whole(last / tau) - 1);
    offer(std::move(pattern), apart(at, kClear), kTwoSets * ranks * chance);
  }

  // Marks that lie together, or at a distance.
  void by_shape(const Marks& marks) {
    const stats::MarkedTable table{world_, n_, marks.all};
    std::vector<double> scores;
    for (const bool own : marks.own) scores.push_back(own ? 1 : -1);
    const auto window = stats::best_segment(scores);
    const auto misses = marks.all - static_cast<std::size_t>(window.sum);
    by_placement(pattern_of(exchanges_in(n_, window.first, window.count)),
                 [&] { return stats::chance_of_window(table, misses); });
    const auto period = best_period(marks);
    if (period.every == 0) return;
    by_placement(pattern_of(exchanges_in(n_, period.first, period.count, period.every), period.every),
                 [&] { return stats::chance_of_period(table, period.misses, longest_); });
  }

  template <typename Chance>
  void by_placement(LatePattern pattern, Chance chance) {
    if (pattern.count == 0) return;
    const auto at = levels_of(pattern);
    if (apart(at) && others_are_on_time(pattern, at))
      offer(std::move(pattern), apart(at, kClear), kTwoSets * chance());
  }

  struct Period {
    std::size_t every = 0, first = 0, count = 0, misses = 0;
  };
  // Each k-th exchange with the fewest exceptions.
  [[nodiscard]] Period best_period(const Marks& marks) const {
    Period best{.misses = n_ + marks.all};
    for (std::size_t every = 2; every <= longest_; ++every)
      for (std::size_t first = 0; first < every; ++first) {
        std::size_t count = 0, own = 0;
        for (std::size_t i = first; i < n_; i += every) ++count, own += marks.own[i] ? 1U : 0U;
        const std::size_t misses = marks.all + count - 2 * own;
        if (own > 0 && misses < best.misses) best = {every, first, count, misses};
      }
    return best;
  }

  const LastRanks& last_;
  std::size_t rank_, n_, world_, longest_;
  BesideOthers times_;
  double spread_;
  LatePattern best_;
};

}  // namespace

BesideOthers beside_others(const std::vector<StepAccount>& accounts, std::size_t rank) {
  BesideOthers times;
  for (const auto& step : accounts) {
    times.others.push_back(median_of_others(step, rank, own_sum));
    times.late.push_back(step.ranks[rank].own_sum() - times.others.back());
  }
  return times;
}

LastRanks last_ranks(const std::vector<StepAccount>& accounts) {
  LastRanks last;
  for (const auto& step : accounts) {
    last.rank.push_back(step.last);
    last.late.push_back(
        step.last ? step.ranks[*step.last].own_sum() - median_of_others(step, *step.last, own_sum) : 0);
  }
  last.clearly = stats::cut_between_groups(last.late);
  return last;
}

LatePattern late_pattern(const std::vector<StepAccount>& accounts, const LastRanks& last, std::size_t rank) {
  return Search(accounts, last, rank).best();
}

}  // namespace paceline::result
