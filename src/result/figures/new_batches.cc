// SPDX-License-Identifier: MIT
#include "result/figures/new_batches.h"

#include <algorithm>

#include "stats/median.h"

namespace paceline::result {
namespace {

// Median of one field over the repetitions; without a time the reason of the last.
Number median_of(const CaseResult& one, std::int64_t batch, Number NewBatch::*field) {
  std::vector<double> times;
  Number missing = Number::missing("not measured");
  for (const auto& repetition : one.repetitions)
    for (const auto& row : repetition.new_batches) {
      if (row.batch != batch) continue;
      if (row.*field)
        times.push_back(*(row.*field));
      else
        missing = row.*field;
    }
  return times.empty() ? missing : Number(stats::median(times));
}

}  // namespace

std::vector<NewBatch> new_batches(const CaseResult& one) {
  std::vector<NewBatch> found;
  if (one.repetitions.empty()) return found;
  for (const auto& row : one.repetitions.front().new_batches)
    found.push_back({row.batch, median_of(one, row.batch, &NewBatch::first_ns),
                     median_of(one, row.batch, &NewBatch::second_ns)});
  return found;
}

}  // namespace paceline::result
