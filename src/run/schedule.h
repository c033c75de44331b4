// SPDX-License-Identifier: MIT
// Decides which timed pass runs next, and which cases there are; unless a run brings its own schedule, the
// order of all of them is fixed, and a slow drift of the machine cancels in it.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "config/case.h"
#include "result/stored/outcome.h"

namespace paceline::run {

struct CaseRun;
using CaseRuns = std::deque<CaseRun>;  // see case/case_run.h

struct TimedSlot {
  std::size_t case_index = 0;
  std::int64_t repetition = 0;
};

// One repetition of several cases, which are compared: measured in turns where the machine allows it, else
// one after the other.
struct TimedRound {
  std::vector<TimedSlot> slots;
};

// A timed pass, a round of them, or a case that the run lacks so far. A new case follows those that there
// are, with another id and a kind that the run knows; a run under a launch takes none.
using Proposal = std::variant<TimedSlot, TimedRound, config::Case>;

// Asked for the next proposal when the last one is done.
class Schedule {
 public:
  virtual ~Schedule() = default;
  // `cases` contain the results of all slots so far. A case is prepared before its first slot. A slot whose
  // results are there already, or whose case has ended, costs nothing; a slot that was given before ends the
  // run with Error(kInternal). nullopt: no more passes are needed, and cases with fewer repetitions than
  // planned are complete with those that they have.
  virtual std::optional<Proposal> next(const CaseRuns& cases) = 0;
  // Why a case with fewer repetitions than planned is complete; asked when no more passes are needed.
  [[nodiscard]] virtual result::EndedBecause ending(const CaseRun& c) const;
  // Whether a case gets a profile of its layers although its options ask for none; asked as above.
  [[nodiscard]] virtual bool asks_layers(const CaseRun&) const { return false; }
  // Number of timed passes of this run, as far as it is known now; shown, with the time left that follows.
  [[nodiscard]] virtual std::size_t expected() const = 0;
  // After which no pass begins, whatever is expected; infinite without a limit.
  [[nodiscard]] virtual double seconds_left() const { return HUGE_VAL; }
};

// All slots of an order, whatever they bring. Neighbours of one repetition are a round.
class FixedOrder : public Schedule {
 public:
  FixedOrder(std::vector<TimedSlot> slots, const CaseRuns& cases);
  std::optional<Proposal> next(const CaseRuns& cases) override;
  [[nodiscard]] std::size_t expected() const override { return expected_; }

 private:
  std::vector<TimedSlot> slots_;
  std::size_t next_ = 0, expected_;
};

// Order of the timed passes. Repetition r of every case runs before repetition r+1 of any, in a seeded random
// order that the next repetition reverses, so that a slow drift of the machine cancels in each pair of
// repetitions. repetitions[i] is the count of case i.
std::vector<TimedSlot> interleaved_order(const std::vector<std::int64_t>& repetitions, std::uint64_t seed);

}  // namespace paceline::run
