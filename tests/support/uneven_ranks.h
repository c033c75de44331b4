// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "result/stored/rank_steps.h"

// Tables of ranks from the own time of each in each step: an all-reduce of 5 ms ends on all ranks together in
// the steps that exchange gradients, and 1 ms passes between steps.
namespace paceline::testing {

struct UnevenRanks {
  std::int64_t ranks = 2, steps = 20;
  std::function<double(std::int64_t rank, std::int64_t step)> own_ms;
  std::int64_t accumulation = 1;  // one exchange in so many steps
};

inline std::vector<result::RankSteps> tables_of(const UnevenRanks& w) {
  const auto n = static_cast<std::size_t>(w.ranks);
  const auto ns = [](double ms) { return std::llround(ms * 1e6); };
  std::vector<result::RankSteps> tables(n);
  std::vector<double> now(n);
  for (std::size_t r = 0; r < n; ++r) tables[r].rank.rank = static_cast<std::int64_t>(r);
  for (std::int64_t s = 0; s < w.steps; ++s) {
    std::vector<double> own(n);
    double last = 0;
    for (std::size_t r = 0; r < n; ++r) {
      own[r] = w.own_ms(static_cast<std::int64_t>(r), s);
      last = std::max(last, now[r] + own[r]);
    }
    const bool exchanges = s % w.accumulation == w.accumulation - 1;
    for (std::size_t r = 0; r < n; ++r) {
      const double exposed = exchanges ? last + 5 - now[r] - own[r] : 0;
      using Part = result::StepPart;
      result::StepRow row;
      row.step = s;
      row.phase = result::StepPhase::kTimed;
      row.start_ns = ns(now[r]), row.step_ns = ns(own[r] + exposed);
      row.ns[Part::kForward] = ns(0.4 * own[r]),
      row.ns[Part::kBackward] = row.step_ns - ns(exposed) - row.ns[Part::kForward];
      row.ns[Part::kExposed] = ns(exposed);
      if (exchanges) row.buckets.emplace_back().launch_ns = ns(own[r]);
      tables[r].rows.push_back(row);
      now[r] += own[r] + exposed + 1;
    }
  }
  return tables;
}

}  // namespace paceline::testing
