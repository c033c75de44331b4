// SPDX-License-Identifier: MIT
#include "run/pair_order.h"

#include <numeric>
#include <utility>

#include "base/random.h"
#include "run/case/case_run.h"

namespace paceline::run {
namespace {

bool has_failed(const CaseRun& c) {
  return c.ended && c.result.outcome != result::Outcome::kOk;
}

}  // namespace

PairOrder::PairOrder(std::vector<CasePair> pairs, std::int64_t repetitions, std::uint64_t seed, Judge judge)
    : pairs_(std::move(pairs)), repetitions_(repetitions), seed_(seed), judge_(std::move(judge)) {
  std::vector<std::size_t> all(pairs_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  add_rounds(all, 0);
}

void PairOrder::add_rounds(const std::vector<std::size_t>& pairs, std::int64_t from) {
  for (std::int64_t repetition = from; repetition < from + repetitions_; ++repetition)
    for (const auto pair : pairs) rounds_.push_back({pair, repetition});
}

// Blocks of two rounds, ABBA or BAAB by a coin.
TimedRound PairOrder::slots_of(const Round& round) const {
  const CounterRng coin(seed_, round.pair);
  const bool starts_with_b = coin.below(static_cast<std::uint64_t>(round.repetition / 2), 2) == 1;
  const bool b_first = starts_with_b != (round.repetition % 2 == 1);
  const TimedSlot a{pairs_[round.pair].a, round.repetition}, b{pairs_[round.pair].b, round.repetition};
  return {b_first ? std::vector{b, a} : std::vector{a, b}};
}

void PairOrder::add_open_pairs(const CaseRuns& cases) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const auto &a = cases[pairs_[i].a], &b = cases[pairs_[i].b];
    if (!has_failed(a) && !has_failed(b) && judge_(a, b) == stats::Verdict::kInconclusive) open.push_back(i);
  }
  add_rounds(open, repetitions_);
}

void PairOrder::note_differences(const CaseRuns& cases) {
  for (const auto& pair : pairs_) {
    const auto &a = cases[pair.a], &b = cases[pair.b];
    if (!has_failed(a) && !has_failed(b) && judge_(a, b) != stats::Verdict::kEquivalent)
      different_.insert({pair.a, pair.b});
  }
}

bool PairOrder::asks_layers(const CaseRun& c) const {
  return different_.contains(c.index);
}

std::optional<Proposal> PairOrder::next(const CaseRuns& cases) {
  if (next_ == rounds_.size() && !std::exchange(doubled_, true)) add_open_pairs(cases);
  while (next_ < rounds_.size()) {
    const auto& round = rounds_[next_++];
    const auto& pair = pairs_[round.pair];
    if (!has_failed(cases[pair.a]) && !has_failed(cases[pair.b])) return slots_of(round);
  }
  note_differences(cases);
  return std::nullopt;
}

}  // namespace paceline::run
