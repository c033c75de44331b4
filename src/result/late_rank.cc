// SPDX-License-Identifier: MIT
#include "result/late_rank.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string>

#include "result/late_causes.h"
#include "result/late_pattern.h"
#include "stats/autocorrelation.h"
#include "stats/order_statistics.h"
#include "stats/quantile.h"
#include "stats/spread.h"
#include "stats/weighted_draws.h"

namespace paceline::result {
namespace {

constexpr double kByChance = 0.001;    // probability that any rank looks late like this one
constexpr double kLateOwnTime = 0.02;  // mean lateness over the mean own time of the other ranks
constexpr std::size_t kFewestForChange = 20;
constexpr std::size_t kFewestBefore = 5;  // steps before a change
constexpr double kWasOnTime = 0.25;       // lateness before a change, relative to after it
constexpr double kNearlyEvery = 0.9;      // of the steps
constexpr double kCommonWork = 0.25;  // what all ranks take longer in late steps, relative to the late rank
constexpr double kMostDelay = 0.65;   // that a suspected rank causes
// Of a step; an irregular pattern, which pauses make by chance, must cost more.
constexpr double kWorthSuspicion = 0.02, kWorthIrregular = 0.05;

double data_wait(const RankAccount& rank) {
  return rank.own[OwnPart::kDataWait];
}

double own_sum(const RankAccount& rank) {
  return rank.own_sum();
}

// One rank beside the median of the others, exchange by exchange.
struct OwnTimes {
  std::vector<double> own, others, late, data_wait, others_data_wait;
};

OwnTimes own_times_of(const std::vector<StepAccount>& accounts, std::size_t at) {
  OwnTimes times;
  for (const auto& step : accounts) {
    times.own.push_back(step.ranks[at].own_sum());
    times.others.push_back(median_of_others(step, at, own_sum));
    times.late.push_back(times.own.back() - times.others.back());
    times.data_wait.push_back(data_wait(step.ranks[at]));
    times.others_data_wait.push_back(median_of_others(step, at, data_wait));
  }
  return times;
}

// Pooled standard deviation of the other ranks' own times; of three and more ranks without what all of the
// others take longer at once.
double spread_of_others(const std::vector<StepAccount>& accounts, std::size_t at, const OwnTimes& times) {
  const std::size_t world = accounts.front().ranks.size(), n = accounts.size();
  double squares = 0;
  for (std::size_t r = 0; r < world && n > 1; ++r) {
    if (r == at) continue;
    std::vector<double> own;
    for (std::size_t i = 0; i < n; ++i)
      own.push_back(accounts[i].ranks[r].own_sum() - (world > 2 ? times.others[i] : 0));
    const double deviation = stats::stddev(own).value_or(0);
    squares += deviation * deviation / static_cast<double>(world - 1);
  }
  return std::sqrt(squares);
}

// Whether it was last in its late steps, and the others took no longer in them than in the rest.
bool stands_alone(const LatePattern& pattern, const std::vector<StepAccount>& accounts, std::size_t at,
                  const OwnTimes& times) {
  std::vector<double> late, beside, rest;
  std::size_t last = 0;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    (pattern.late[i] ? beside : rest).push_back(times.others[i]);
    if (!pattern.late[i]) continue;
    late.push_back(times.late[i]);
    last += accounts[i].last == at ? 1 : 0;
  }
  if (static_cast<double>(last) < kNearlyEvery * static_cast<double>(pattern.count)) return false;
  return rest.empty() ||
         stats::median(beside) - stats::median(rest) <= kCommonWork * std::max(0.0, stats::median(late));
}

// The step at which a rank became late, by the largest drop of the cumulative sum below its line; the first
// where it was always late.
std::size_t late_since(const std::vector<double>& late) {
  const std::size_t n = late.size();
  const double mean = stats::mean(late);
  double sum = 0, lowest = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += late[i] - mean;
    if (sum < lowest) lowest = sum, at = i + 1;
  }
  if (n < kFewestForChange || at < kFewestBefore || at >= n) return 0;
  const auto all = std::span(late);
  return stats::median(all.first(at)) <= kWasOnTime * stats::median(all.subspan(at)) ? at : 0;
}

// Autocorrelation time around the levels before and after `since`.
double autocorrelation_of(std::vector<double> series, std::size_t since) {
  const auto all = std::span(series);
  for (const auto level : {all.first(since), all.subspan(since)}) {
    if (level.empty() || since == 0) continue;
    const double mean = stats::mean(level);
    for (double& value : level) value -= mean;
  }
  return stats::tau_geyer(series);
}

// One rank against chance. Each exchange has its last rank by chance: probability that any rank is last that
// often, and that it causes so much of the delay. Steps that are disturbed together count less.
class Judgement {
 public:
  Judgement(const std::vector<StepAccount>& accounts, const std::vector<RankFigures>& ranks, std::size_t at)
      : accounts_(accounts), ranks_(ranks), at_(at), times_(own_times_of(accounts, at)) {
    const double spread = spread_of_others(accounts, at, times_);
    pattern_ = late_pattern(times_.late, spread);
    if (!stands_alone(pattern_, accounts, at, times_)) pattern_ = always_late(accounts.size());
    since_ = pattern_.clear ? (pattern_.together() ? pattern_.first : 0) : late_since(times_.late);
    until_ = pattern_.clear && pattern_.together() ? pattern_.last : accounts.size() - 1;
  }

  [[nodiscard]] std::optional<LateRank> verdict() const {
    if (stats::mean(times_.late) < kLateOwnTime * stats::mean(times_.others)) return std::nullopt;
    LateRank late = figures();
    late.certain = late.steps >= kFewestLate && *late.chance < kByChance;
    if (late.certain) late.causes = causes();
    if (late.certain || is_suspect(late)) return late;
    return std::nullopt;
  }

 private:
  static LatePattern always_late(std::size_t n) {
    return {.late = std::vector<bool>(n, true), .count = n, .last = n - 1};
  }

  // By counting, by weighing, and by the pattern. Of a rank that became late and was then last in nearly
  // every exchange, disturbances count around the levels before and after.
  [[nodiscard]] double chance() const {
    const auto n = static_cast<double>(accounts_.size()), world = static_cast<double>(ranks_.size());
    std::vector<double> was_last, delays, blamed;
    double caused = 0;
    for (const auto& step : accounts_) {
      was_last.push_back(step.last == at_ ? 1 : 0);
      delays.push_back(step.last ? step.delay : 0);
      blamed.push_back(delays.back() * (was_last.back() - 1 / world));
      caused += was_last.back() * delays.back();
    }
    const bool nearly_every = stats::mean(std::span(was_last).subspan(since_)) >= kNearlyEvery;
    const std::size_t level = nearly_every ? since_ : 0;
    const double steps = n / autocorrelation_of(was_last, level);
    const double often = 1 - stats::binomial_cdf(std::llround(steps), 1 / world,
                                                 std::llround(stats::mean(was_last) * steps) - 1);
    const double much =
        std::pow(stats::chance_of_draws(delays, 1 / world, caused), 1 / autocorrelation_of(blamed, level));
    return std::min(
        {1.0, world * often, world * much, chance_of_pattern(pattern_, times_.late, ranks_.size())});
  }

  [[nodiscard]] LateRank figures() const {
    double waited = 0, delay = 0, caused = 0, last = 0, steps = 0;
    const std::size_t typical = typical_rank(accounts_);
    for (const auto& one : accounts_) {
      steps += static_cast<double>(one.steps);
      delay += one.last ? one.delay : 0;
      if (one.last == at_) last += 1, caused += one.delay, waited += one.ranks[typical].straggler_wait;
    }
    std::vector<double> late;  // per step
    for (std::size_t i = since_; i < accounts_.size(); ++i)
      if (pattern_.late[i]) late.push_back(times_.late[i] / static_cast<double>(accounts_[i].steps));
    const auto n = static_cast<double>(accounts_.size());
    return {.rank = ranks_[at_].rank,
            .late_in = part_in_words(),
            .last_share = last / n,
            .chance = chance(),
            .late_ns = stats::median(late),
            .mean_late_ns = stats::mean(times_.late) * n / steps,
            .cost_ns = waited / steps,
            .waiting_share = delay > 0 ? Number(caused / delay) : Number::missing("no rank waits"),
            .first_step = accounts_.front().step,
            .since_step = accounts_[since_].step,
            .last_step = accounts_.back().step,
            .until_step = accounts_[until_].step,
            .every = static_cast<std::int64_t>(pattern_.clear ? pattern_.every : 0),
            .steps = static_cast<std::int64_t>(steps),
            .exchanges = static_cast<std::int64_t>(accounts_.size()),
            .late_exchanges = static_cast<std::int64_t>(late.size())};
  }

  // Where it takes longest beyond the median of the others, over the exchanges in which it is the last.
  [[nodiscard]] std::string part_in_words() const {
    double longest = 0;
    std::string words;
    for (const OwnPart at : kOwnParts) {
      const auto part = [at](const RankAccount& rank) { return rank.own[at]; };
      double beyond = 0;
      for (const auto& step : accounts_)
        if (step.last == at_) beyond += part(step.ranks[at_]) - median_of_others(step, at_, part);
      if (beyond > longest) longest = beyond, words = traits_of(at).late_in;
    }
    return words;
  }

  [[nodiscard]] std::vector<LateCause> causes() const {
    return causes_of({at_, stats::mean(times_.own), stats::mean(times_.late), stats::mean(times_.data_wait),
                      stats::mean(times_.others_data_wait)},
                     ranks_);
  }

  [[nodiscard]] bool is_suspect(const LateRank& late) const {
    double step = 0;
    for (const auto& one : accounts_) step += one.ranks[at_].sum() / static_cast<double>(late.steps);
    return pattern_.clear && accounts_.size() > 1 && late.waiting_share &&
           *late.waiting_share >= kMostDelay &&
           *late.cost_ns >= (pattern_.regular() ? kWorthSuspicion : kWorthIrregular) * step;
  }

  const std::vector<StepAccount>& accounts_;
  const std::vector<RankFigures>& ranks_;
  std::size_t at_;
  OwnTimes times_;
  LatePattern pattern_;
  std::size_t since_ = 0, until_ = 0;
};

// The rank that causes most of the delay, and the one that is last most often.
std::vector<std::size_t> candidates(const std::vector<StepAccount>& accounts, std::size_t world) {
  std::vector<double> delays(world), lasts(world);
  for (const auto& step : accounts)
    if (step.last) delays[*step.last] += step.delay, ++lasts[*step.last];
  const auto most = [](const std::vector<double>& of) {
    return static_cast<std::size_t>(std::ranges::max_element(of) - of.begin());
  };
  if (delays[most(delays)] <= 0) return {};
  if (most(delays) == most(lasts)) return {most(delays)};
  return {most(delays), most(lasts)};
}

}  // namespace

std::vector<LateRank> late_rank_of(const std::vector<StepAccount>& accounts,
                                   const std::vector<RankFigures>& ranks) {
  if (ranks.size() < 2 || accounts.empty()) return {};
  std::optional<LateRank> suspected;
  for (const std::size_t at : candidates(accounts, ranks.size())) {
    auto late = Judgement(accounts, ranks, at).verdict();
    if (late && late->certain) return {std::move(*late)};
    if (late && !suspected) suspected = std::move(late);
  }
  return suspected ? std::vector{std::move(*suspected)} : std::vector<LateRank>();
}

std::int64_t steps_for_certainty(const LateRank& suspected) {
  const auto up = [](std::int64_t all, std::int64_t part) {
    return (all + part - 1) / std::max<std::int64_t>(1, part);
  };
  const std::int64_t exchanges = up(kFewestLate * suspected.exchanges, suspected.late_exchanges);
  return std::max(kFewestSteps, 1 + up(exchanges * suspected.steps, suspected.exchanges));
}

}  // namespace paceline::result
