// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "run/schedule.h"
#include "tune/search.h"

namespace paceline::run {

// Rounds of a race between cases: an arm is the case of its index. In the first round each case is prepared
// and measured by itself, so that what is known grows from the beginning; later rounds are measured in turns
// where they can be. The order within a round is drawn from the keys of the arms, and the next one reverses
// it.
class RaceOrder : public Schedule {
 public:
  // Judges one repetition of a case.
  using Judge = std::function<tune::Outcome(const CaseRun& c, std::int64_t repetition)>;
  // No round, and in the first one no case, begins when no `seconds_left` remain. The search outlives this.
  RaceOrder(tune::Search& search, Judge judge, std::function<double()> seconds_left);
  std::optional<Proposal> next(const CaseRuns& cases) override;
  [[nodiscard]] result::EndedBecause ending(const CaseRun& c) const override;
  [[nodiscard]] std::size_t expected() const override;
  [[nodiscard]] double seconds_left() const override { return seconds_left_(); }
  // Whether the time was up before the search was over.
  [[nodiscard]] bool was_cut_short() const { return cut_short_; }

 private:
  void begin_round();
  void take_round(const CaseRuns& cases);
  [[nodiscard]] bool costs_time(const CaseRuns& cases) const;
  std::optional<Proposal> end_early(const CaseRuns& cases);

  tune::Search& search_;
  Judge judge_;
  std::function<double()> seconds_left_;
  std::vector<std::size_t> round_;  // arms of the round that is being measured, in its order
  std::size_t begun_ = 0;           // of them: proposed
  std::size_t proposed_ = 0;        // slots of all rounds
  bool cut_short_ = false;
};

}  // namespace paceline::run
