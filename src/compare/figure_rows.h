// SPDX-License-Identifier: MIT
// The table of figures that two cases may have in common, and their values per process.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compare/side_run.h"
#include "result/figures/pair_ratio.h"

namespace paceline::compare {

// A figure that every process has. `value` is in `unit`.
struct FigureRow {
  Figure figure;
  std::function<Number(const CaseSide&, const result::Repetition&)> value;
  std::function<Number(const CaseSide&)> whole;  // of the case, as its results have it
};

// The headline, which is judged by result::pair_ratio, is the first of them.
struct FigureRows {
  result::Figure headline = result::Figure::kLatency;
  std::vector<FigureRow> rows;
};
FigureRows figure_rows(const CaseSide& a, const CaseSide& b);

// Figures without values per process: energy, and the accuracy of outputs.
std::vector<Figure> figures_of_cases(const result::CaseResult& a, const result::CaseResult& b);

}  // namespace paceline::compare
