// SPDX-License-Identifier: MIT
// Searches the best of several arms by racing: results of rounds in, arms of the next round out. Without a
// clock, a process or a file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answer/verdict.h"
#include "base/maybe.h"
#include "stats/interval.h"

namespace paceline::tune {

// A condition on an arm, with what is known of it after a round.
struct Constraint {
  std::string name;  // as it was asked for: "p99<=20ms"
  answer::Verdict verdict = answer::Verdict::kCannotSay;
  // Share by which the arm misses it: 0.2 for 24 ms instead of 20 ms; negative where it is met.
  Number excess = Number::missing("not measured");
  std::string value;   // "24 ms", or why there is none
  bool exact = false;  // the value does not vary between processes
};

// Result of a round for one arm.
struct Outcome {
  std::size_t arm = 0;
  Number cost;         // of one process, above 0; lower is better
  std::string failed;  // why the arm has no result and gets none; empty: it goes on
  std::vector<Constraint> constraints{};
};

enum class Fate : std::uint8_t {
  kRacing,   // in the race, or there when it ended
  kDropped,  // slower than the best beyond the margin
  kMissed,   // a constraint
  kFailed,
};

struct Arm {
  std::string key;  // unique; decides ties, so that the order of arms changes nothing
  Fate fate = Fate::kRacing;
  std::size_t rounds = 0;       // in which it took part
  std::string reason{};         // why it left the race, in words; empty: it did not
  std::vector<Number> costs{};  // by round
  std::vector<Constraint> constraints{};
  // Cost over that of the arm `over`, the best at the last look; none before the first one.
  std::optional<stats::Interval> ratio{};
  std::optional<std::size_t> over{};
};

struct Rules {
  double alpha = 0.05;                          // of dropping the best arm, over all arms and looks
  double margin = 0.03;                         // smallest ratio that counts: within it arms are equal
  std::vector<std::size_t> looks{3, 4, 6, 10};  // rounds after which arms are compared; the last one ends it
  std::size_t enough = 6;  // rounds after which the last arm in the race is known well enough
};

// Successive elimination on pairs of one round, in which a drift of the machine cancels. With K arms and L
// looks, an arm leaves after a look if the mean log ratio of its cost to that of the best arm that meets all
// constraints is certainly above log(1 + margin): the one-sided lower bound of Student's t at level
// alpha / ((K - 1) L). By Bonferroni's inequality over the K - 1 arms that may replace it and the L looks,
// the best arm is dropped with probability alpha at most (Maron and Moore 1994, Even-Dar et al. 2006; the
// looks as in Pocock 1977 with Bonferroni's constant). A constraint that is certainly missed drops an arm as
// well; until an arm certainly meets all, costs drop none. An arm comes back if the one that it was dropped
// for misses a constraint or fails. `alpha` covers costs alone: each look judges a constraint at the
// confidence of its interval, without a correction for looks or arms.
class Search {
 public:
  // Throws Error(kInternal) for keys that are not unique, and for none.
  explicit Search(std::vector<std::string> keys, Rules rules = {});

  // Arms of the next round in the order of their keys; empty: the search is over, or after the first look no
  // arm has a figure.
  [[nodiscard]] std::vector<std::size_t> next() const;
  // All outcomes of one round, in any order.
  void take(const std::vector<Outcome>& outcomes);

  [[nodiscard]] const std::vector<Arm>& arms() const { return arms_; }
  [[nodiscard]] const Rules& rules() const { return rules_; }
  [[nodiscard]] std::size_t rounds() const { return rounds_; }
  // Measured arm in the race with the least cost, by medians over rounds; of those that meet all constraints
  // where there is one.
  [[nodiscard]] std::optional<std::size_t> best() const;
  // Cost of an arm over that of another, over the rounds of both; each end is a one-sided bound at the level
  // of one look. None below two rounds.
  [[nodiscard]] std::optional<stats::Interval> ratio(std::size_t arm, std::size_t over) const;
  // Median of that ratio over the rounds; none without a common one.
  [[nodiscard]] std::optional<double> estimate(std::size_t arm, std::size_t over) const;

 private:
  void apply(const Outcome& outcome);
  void drop_missed(Arm& arm, bool at_look) const;
  void drop_slower();
  void bring_back();
  [[nodiscard]] bool is_look() const;
  [[nodiscard]] std::vector<double> levels() const;
  [[nodiscard]] std::vector<double> log_ratios(std::size_t arm, std::size_t over) const;

  std::vector<Arm> arms_;
  Rules rules_;
  std::size_t rounds_ = 0;
};

// Whether all constraints are certainly met.
bool meets_all(const Arm& arm);

}  // namespace paceline::tune
