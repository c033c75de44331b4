// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "run/schedule.h"
#include "stats/compare.h"

namespace paceline::run {

// Two cases that are compared.
struct CasePair {
  std::size_t a = 0, b = 0;  // their indices
};

// Rounds of the two cases of each pair, A B then B A or the other way round, and once as many again for pairs
// that are not decided by then (methodology: A/B comparison). A pair ends with a case that fails.
class PairOrder : public Schedule {
 public:
  using Judge = std::function<stats::Verdict(const CaseRun& a, const CaseRun& b)>;
  // The cases allow twice `repetitions`.
  PairOrder(std::vector<CasePair> pairs, std::int64_t repetitions, std::uint64_t seed, Judge judge);
  std::optional<Proposal> next(const CaseRuns& cases) override;
  // Asks for those of cases that differ, or may differ.
  [[nodiscard]] bool asks_layers(const CaseRun& c) const override;
  [[nodiscard]] std::size_t expected() const override { return 2 * rounds_.size(); }

 private:
  struct Round {
    std::size_t pair;
    std::int64_t repetition;
  };
  void add_rounds(const std::vector<std::size_t>& pairs, std::int64_t from);
  void add_open_pairs(const CaseRuns& cases);
  void note_differences(const CaseRuns& cases);
  [[nodiscard]] TimedRound slots_of(const Round& round) const;

  std::vector<CasePair> pairs_;
  std::int64_t repetitions_;
  std::uint64_t seed_;
  Judge judge_;
  std::vector<Round> rounds_;
  std::size_t next_ = 0;
  bool doubled_ = false;
  std::set<std::size_t> different_;  // indices of cases
};

}  // namespace paceline::run
