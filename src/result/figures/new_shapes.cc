// SPDX-License-Identifier: MIT
#include "result/figures/new_shapes.h"

#include <algorithm>

#include "stats/median.h"

namespace paceline::result {
namespace {

// Median of one field over the repetitions; without a time the reason of the last.
Number median_of(const CaseResult& one, const std::string& shape, Number NewShape::*field) {
  std::vector<double> times;
  Number missing = Number::missing("not measured");
  for (const auto& repetition : one.repetitions)
    for (const auto& row : repetition.new_shapes) {
      if (row.shape != shape) continue;
      if (row.*field)
        times.push_back(*(row.*field));
      else
        missing = row.*field;
    }
  return times.empty() ? missing : Number(stats::median(times));
}

}  // namespace

std::vector<NewShape> new_shapes(const CaseResult& one) {
  std::vector<NewShape> found;
  if (one.repetitions.empty()) return found;
  for (const auto& row : one.repetitions.front().new_shapes)
    found.push_back({row.shape, median_of(one, row.shape, &NewShape::first_ns),
                     median_of(one, row.shape, &NewShape::second_ns)});
  return found;
}

}  // namespace paceline::result
