// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "run/schedule.h"

namespace paceline::run {

// Two cases that are compared.
struct CasePair {
  std::size_t a = 0, b = 0;  // their indices
};

// Rounds of the two cases of each pair, A B then B A or the other way round, and once as many again for pairs
// that are not decided by then (methodology: A/B comparison). A pair ends with a case that fails.
class PairOrder : public Schedule {
 public:
  using Undecided = std::function<bool(const CaseRun& a, const CaseRun& b)>;
  // The cases allow twice `repetitions`.
  PairOrder(std::vector<CasePair> pairs, std::int64_t repetitions, std::uint64_t seed, Undecided undecided);
  std::optional<Proposal> next(const CaseRuns& cases) override;
  [[nodiscard]] std::size_t expected() const override { return 2 * rounds_.size(); }

 private:
  struct Round {
    std::size_t pair;
    std::int64_t repetition;
  };
  void add_rounds(const std::vector<std::size_t>& pairs, std::int64_t from);
  [[nodiscard]] TimedRound slots_of(const Round& round) const;

  std::vector<CasePair> pairs_;
  std::int64_t repetitions_;
  std::uint64_t seed_;
  Undecided undecided_;
  std::vector<Round> rounds_;
  std::size_t next_ = 0;
  bool doubled_ = false;
};

}  // namespace paceline::run
