// SPDX-License-Identifier: MIT
#include "run/race_order.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "run/case/case_run.h"

namespace paceline::run {

RaceOrder::RaceOrder(tune::Search& search, Judge judge, std::function<double()> seconds_left)
    : search_(search), judge_(std::move(judge)), seconds_left_(std::move(seconds_left)) {}

void RaceOrder::begin_round() {
  round_ = search_.next();
  begun_ = 0;
  const auto block = search_.rounds() / 2;
  std::ranges::sort(round_, {}, [&](std::size_t i) {
    const auto& key = search_.arms()[i].key;
    return std::pair(CounterRng(hash64(key), block).bits(0), key);
  });
  if (search_.rounds() % 2 == 1) std::ranges::reverse(round_);
}

void RaceOrder::take_round(const CaseRuns& cases) {
  std::vector<tune::Outcome> outcomes;
  for (std::size_t i = 0; i < begun_; ++i) {
    auto outcome = judge_(cases[round_[i]], static_cast<std::int64_t>(search_.rounds()));
    outcome.arm = round_[i];
    outcomes.push_back(std::move(outcome));
  }
  search_.take(outcomes);
  round_.clear();
}

// Costs time: a resumed run has some repetitions already.
bool RaceOrder::costs_time(const CaseRuns& cases) const {
  const auto repetition = static_cast<std::int64_t>(search_.rounds());
  if (search_.rounds() == 0) return cases[round_[begun_]].needs(repetition);
  return std::ranges::any_of(round_, [&](std::size_t i) { return cases[i].needs(repetition); });
}

std::optional<Proposal> RaceOrder::end_early(const CaseRuns& cases) {
  cut_short_ = true;
  if (begun_ > 0) take_round(cases);
  return std::nullopt;
}

std::optional<Proposal> RaceOrder::next(const CaseRuns& cases) {
  const auto repetition = [&] { return static_cast<std::int64_t>(search_.rounds()); };
  if (!round_.empty() && begun_ == round_.size()) take_round(cases);
  if (round_.empty()) begin_round();
  if (round_.empty()) return std::nullopt;
  if (costs_time(cases) && seconds_left_() <= 0) return end_early(cases);
  if (search_.rounds() == 0 || round_.size() == 1) {
    ++proposed_;
    return TimedSlot{round_[begun_++], repetition()};
  }
  TimedRound all;
  for (const auto i : round_) all.slots.push_back({i, repetition()});
  begun_ = round_.size();
  proposed_ += begun_;
  return all;
}

result::EndedBecause RaceOrder::ending(const CaseRun& c) const {
  const auto fate = search_.arms().at(c.index).fate;
  if (fate != tune::Fate::kRacing) return result::EndedBecause::kEliminated;
  return cut_short_ ? result::EndedBecause::kInterrupted : result::EndedBecause::kNarrowEnough;
}

// Passes to the next look; later rounds are not certain.
std::size_t RaceOrder::expected() const {
  const auto& looks = search_.rules().looks;
  const auto look = std::ranges::upper_bound(looks, search_.rounds());
  const auto rounds = look == looks.end() ? 0 : *look - search_.rounds();
  const auto racing = search_.next().size();
  const auto ahead = rounds * racing;
  return proposed_ - begun_ + std::max(ahead, begun_);
}

}  // namespace paceline::run
