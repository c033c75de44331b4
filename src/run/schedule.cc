// SPDX-License-Identifier: MIT
#include "run/schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "run/case/case_run.h"

namespace paceline::run {

result::EndedBecause Schedule::ending(const CaseRun&) const {
  return result::EndedBecause::kPlanned;
}

FixedOrder::FixedOrder(std::vector<TimedSlot> slots, const CaseRuns& cases)
    : slots_(std::move(slots)),
      expected_(static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [&](const auto& slot) {
        return cases[slot.case_index].needs(slot.repetition);
      }))) {}

std::optional<Proposal> FixedOrder::next(const CaseRuns&) {
  if (next_ == slots_.size()) return std::nullopt;
  TimedRound round{{slots_[next_++]}};
  while (next_ < slots_.size() && slots_[next_].repetition == round.slots.front().repetition)
    round.slots.push_back(slots_[next_++]);
  if (round.slots.size() == 1) return round.slots.front();
  return round;
}

std::vector<TimedSlot> interleaved_order(const std::vector<std::int64_t>& repetitions, std::uint64_t seed) {
  std::vector<TimedSlot> slots;
  std::vector<std::size_t> order(repetitions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::int64_t most =
      repetitions.empty() ? 0 : *std::max_element(repetitions.begin(), repetitions.end());
  for (std::int64_t r = 0; r < most; ++r) {
    if (r % 2 == 1) {
      std::reverse(order.begin(), order.end());
    } else {
      const CounterRng rng(seed, static_cast<std::uint64_t>(r));
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i, i)]);
    }
    for (const std::size_t c : order)
      if (r < repetitions[c]) slots.push_back({c, r});
  }
  return slots;
}

}  // namespace paceline::run
