// SPDX-License-Identifier: MIT
#include "result/figures/late_rank.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "result/figures/late_causes.h"
#include "result/figures/late_pattern.h"
#include "stats/quantile.h"
#include "stats/spread.h"

namespace paceline::result {
namespace {

constexpr double kByChance = 0.001;    // probability that any rank looks late like this one
constexpr double kLateOwnTime = 0.02;  // lateness over the own time of the others, in late exchanges
constexpr double kMostDelay = 0.65;    // that a suspected rank causes
constexpr double kBeginsLate = 0.5, kMostOfFirst = 0.75;  // of the lateness, and of the first exchanges
// Shares of a step; an irregular pattern, which pauses make by chance, must cost more.
constexpr double kWorthSuspicion = 0.02, kWorthIrregular = 0.05;

constexpr double kMostFavour = 0.5;   // lateness over the own time of the others
constexpr double kSteadySteps = 0.8;  // of all, at least

double data_wait(const RankAccount& rank) {
  return rank.own[OwnPart::kDataWait];
}

// One rank against chance.
class Judgement {
 public:
  Judgement(const std::vector<StepAccount>& accounts, const std::vector<RankFigures>& ranks,
            const LastRanks& last, std::size_t at)
      : accounts_(accounts),
        ranks_(ranks),
        at_(at),
        times_(beside_others(accounts, at)),
        pattern_(late_pattern(accounts, last, at)) {}

  [[nodiscard]] std::optional<LateRank> verdict() const {
    double late_ns = 0, others_ns = 0;
    for (std::size_t i = 0; i < accounts_.size(); ++i)
      if (pattern_.late[i]) late_ns += times_.late[i], others_ns += times_.others[i];
    if (late_ns < kLateOwnTime * others_ns) return std::nullopt;
    LateRank late = figures();
    late.certain = *late.chance < kByChance && !may_be_favour(late_ns / others_ns);
    if (late.certain) late.causes = causes();
    if (late.certain || *late.chance < kByChance || is_suspect(late)) return late;
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool may_be_favour(double late_share) const {
    if (!ranks_[at_].shares_cpus || late_share >= kMostFavour) return false;
    double observed_ns = 0;
    for (const auto& one : accounts_) observed_ns += one.ranks[at_].sum();
    return observed_ns < kLongestFavourNs;
  }

  [[nodiscard]] LateRank figures() const {
    double delay = 0, caused = 0, last = 0, steps = 0;
    for (const auto& one : accounts_) {
      steps += static_cast<double>(one.steps);
      delay += one.last ? one.delay : 0;
      if (one.last == at_) last += 1, caused += one.delay;
    }
    std::vector<double> late;  // per step
    for (std::size_t i = 0; i < accounts_.size(); ++i)
      if (pattern_.late[i]) late.push_back(times_.late[i] / static_cast<double>(accounts_[i].steps));
    const auto n = static_cast<double>(accounts_.size());
    const bool together = pattern_.together();
    return {.rank = ranks_[at_].rank,
            .late_in = part_in_words(),
            .last_share = last / n,
            .chance = pattern_.chance,
            .late_ns = stats::median(late),
            .mean_late_ns = stats::mean(times_.late) * n / steps,
            .cost_ns = waited_for_it() / steps,
            .waiting_share = delay > 0 ? Number(caused / delay) : Number::missing("no rank waits"),
            .first_step = accounts_.front().step,
            .since_step = accounts_[together ? pattern_.first : 0].step,
            .last_step = accounts_.back().step,
            .until_step = accounts_[together ? pattern_.last : accounts_.size() - 1].step,
            .begins_late = begins_late(stats::median(late)),
            .every = static_cast<std::int64_t>(pattern_.every),
            .steps = static_cast<std::int64_t>(steps),
            .exchanges = static_cast<std::int64_t>(accounts_.size()),
            .late_exchanges = static_cast<std::int64_t>(late.size())};
  }

  // Time of the typical rank that its lateness explains: in no exchange more than it was late, and in all no
  // more than it was late over all of them, or over its pattern, so that symmetric jitter costs nothing.
  [[nodiscard]] double waited_for_it() const {
    const std::size_t typical = typical_rank(accounts_);
    double waited = 0, late = 0, late_in_pattern = 0;
    for (std::size_t i = 0; i < accounts_.size(); ++i) {
      late += times_.late[i];
      if (pattern_.late[i]) late_in_pattern += times_.late[i];
      if (accounts_[i].last == at_)
        waited += std::clamp(times_.late[i], 0.0, std::max(0.0, accounts_[i].ranks[typical].straggler_wait));
    }
    return std::clamp(std::max(late, late_in_pattern), 0.0, waited);
  }

  // Whether it was late in most of the first exchanges, by half of `late_ns` per step and more.
  [[nodiscard]] bool begins_late(double late_ns) const {
    const auto first = std::min(accounts_.size(), static_cast<std::size_t>(kFewestLate));
    std::size_t late = 0;
    for (std::size_t i = 0; i < first; ++i)
      late += times_.late[i] >= kBeginsLate * late_ns * static_cast<double>(accounts_[i].steps) ? 1U : 0U;
    return kMostOfFirst * static_cast<double>(first) <= static_cast<double>(late);
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
    std::vector<double> own, waits, others_waits;
    for (const auto& step : accounts_) {
      own.push_back(step.ranks[at_].own_sum()), waits.push_back(data_wait(step.ranks[at_]));
      others_waits.push_back(median_of_others(step, at_, data_wait));
    }
    return causes_of(
        {at_, stats::mean(own), stats::mean(times_.late), stats::mean(waits), stats::mean(others_waits)},
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
  BesideOthers times_;
  LatePattern pattern_;
};

// The ranks that cause most of the delay, that are last most often, and that are clearly late most often.
std::vector<std::size_t> candidates(const std::vector<StepAccount>& accounts, const LastRanks& last,
                                    std::size_t world) {
  std::vector<double> delays(world), lasts(world), clear(world);
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    if (!last.rank[i]) continue;
    const std::size_t rank = *last.rank[i];
    delays[rank] += accounts[i].delay, ++lasts[rank];
    if (last.late[i] >= last.clearly) ++clear[rank];
  }
  std::vector<std::size_t> found;
  for (const auto* scores : {&delays, &lasts, &clear}) {
    const auto most = std::ranges::max_element(*scores);
    const auto rank = static_cast<std::size_t>(most - scores->begin());
    if (*most > 0 && std::ranges::find(found, rank) == found.end()) found.push_back(rank);
  }
  return found;
}

}  // namespace

std::vector<LateRank> late_rank_of(const std::vector<StepAccount>& accounts,
                                   const std::vector<RankFigures>& ranks) {
  if (ranks.size() < 2 || accounts.empty()) return {};
  const LastRanks last = last_ranks(accounts);
  std::optional<LateRank> found;
  for (const std::size_t at : candidates(accounts, last, ranks.size())) {
    auto late = Judgement(accounts, ranks, last, at).verdict();
    const auto doubt = [](const LateRank& one) { return std::pair(!one.certain, *one.chance); };
    if (late && (!found || doubt(*late) < doubt(*found))) found = std::move(late);
  }
  return found ? std::vector{std::move(*found)} : std::vector<LateRank>();
}

bool is_favour(const LateRank& suspected) {
  return !suspected.certain && *suspected.chance < kByChance;
}

std::int64_t steps_for_certainty(const LateRank& suspected, std::size_t ranks, double step_ns) {
  if (is_favour(suspected) && step_ns > 0)
    return static_cast<std::int64_t>(std::ceil(kLongestFavourNs / step_ns / kSteadySteps));
  const auto up = [](std::int64_t all, std::int64_t part) {
    return (all + part - 1) / std::max<std::int64_t>(1, part);
  };
  const auto late = std::max(static_cast<std::int64_t>(std::ceil(
                                 1 - std::log(kByChance / 2) / std::log(static_cast<double>(ranks)))),
                             suspected.late_exchanges + 1);
  const std::int64_t exchanges = up(late * suspected.exchanges, suspected.late_exchanges);
  return 1 + up(exchanges * suspected.steps, suspected.exchanges);
}

}  // namespace paceline::result
