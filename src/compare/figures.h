// SPDX-License-Identifier: MIT
// Judges every figure that two cases have in common, over pairs of their processes or over each side's.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/side_run.h"
#include "result/stored/case_result.h"

namespace paceline::compare {

inline constexpr double kMargin = 0.03;  // smallest change that counts, unless another is asked for

// How far the sides of comparisons of equals differed on this machine, as half-widths
// (compare/equal_sides.h); 0: not known.
struct EqualSides {
  double in_turns = 0, alternating = 0;
  [[nodiscard]] double halfwidth(Pairing pairing) const {
    return pairing == Pairing::kInTurns ? in_turns : pairing == Pairing::kAlternating ? alternating : 0;
  }
};

struct JudgeOptions {
  std::optional<double> threshold{};  // smallest change that counts; empty: kMargin
  std::optional<Pairing> pairing{};   // as it is known; empty: from the start times
  EqualSides equal{};
  std::vector<std::string> resumed_utc{};  // of all runs
  std::string again = "paceline compare";  // the command that measures both in turns
};

// Label, ids and side of the answer are left to the caller. Figures of a case that failed are missing.
ComparedCase judge_cases(const CaseSide& a, const CaseSide& b, const JudgeOptions& options);

// Smallest change that counts: at least twice the half-width of equal sides.
double margin_of(const JudgeOptions& options, Pairing pairing);

// Fills in what follows from pairs of per-process values (A, B): change, interval, p and verdict.
void judge_pairs(Figure& figure, const std::vector<double>& a, const std::vector<double>& b);
// Fills in what follows from the values of sides that were not measured in turns; never a verdict.
void judge_apart(Figure& figure, const std::vector<double>& a, const std::vector<double>& b,
                 const std::string& again);

// True if the control moved: its interval excludes 1 and its estimate is beyond half the margin.
Control judge_control(const std::vector<double>& a_ns, const std::vector<double>& b_ns, double margin);

// Adjusts the verdicts of all figures that decide for their number (Holm), and withholds them where the
// environment or the control is in the way. To be called once, when everything else is filled in.
void settle(Comparison& comparison);

}  // namespace paceline::compare
