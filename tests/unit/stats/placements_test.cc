// SPDX-License-Identifier: MIT
#include "stats/placements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "base/random.h"

namespace paceline::stats {
namespace {

// The row of the mark in each column; none: kUnmarked.
constexpr std::size_t kUnmarked = std::numeric_limits<std::size_t>::max();
using Marks = std::vector<std::size_t>;

Marks drawn(const MarkedTable& table, std::uint64_t seed) {
  const CounterRng random(seed, 5);
  Marks marks(table.columns, kUnmarked);
  std::uint64_t draws = 0;
  for (std::size_t placed = 0; placed < table.marks;) {
    const auto column = random.below(draws++, table.columns);
    if (marks[column] != kUnmarked) continue;
    marks[column] = random.below(draws++, table.rows);
    ++placed;
  }
  return marks;
}

std::size_t misses(const Marks& marks, std::size_t row, const std::function<bool(std::size_t)>& in_set) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const bool own = in_set(i) && marks[i] == row;
    found += (in_set(i) && !own ? 1 : 0) + (marks[i] != kUnmarked && !own ? 1 : 0);
  }
  return found;
}

std::size_t fewest_in_a_window(const Marks& marks, std::size_t rows) {
  std::size_t fewest = 2 * marks.size();
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t first = 0; first < marks.size(); ++first)
      for (std::size_t end = first + 1; end <= marks.size(); ++end)
        fewest = std::min(fewest, misses(marks, row, [&](std::size_t i) { return i >= first && i < end; }));
  return fewest;
}

std::size_t fewest_in_a_period(const Marks& marks, std::size_t rows, std::size_t longest) {
  std::size_t fewest = 2 * marks.size();
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t period = 2; period <= longest; ++period)
      for (std::size_t first = 0; first < period; ++first)
        fewest = std::min(fewest, misses(marks, row, [&](std::size_t i) { return i % period == first; }));
  return fewest;
}

TEST(Placements, ClosedForms) {
  // 4 windows of 3 among 20 sets of 3 columns; all 3 marks in one of 2 rows: 1/4.
  EXPECT_NEAR(chance_of_window({2, 6, 3}, 0), 4.0 / 20 / 4, 1e-12);
  // Every second column: 2 of 20 sets of 3 columns.
  EXPECT_NEAR(chance_of_period({2, 6, 3}, 0, 2), 2.0 / 20 / 4, 1e-12);
  // Every column marked, all in one row.
  EXPECT_NEAR(chance_of_window({4, 5, 5}, 0), 4.0 / 1024, 1e-12);
  EXPECT_EQ(chance_of_window({2, 6, 3}, 3), 1);
  EXPECT_EQ(chance_of_period({2, 6, 3}, 6, 3), 1);
}

TEST(Placements, BoundsAreKeptAndNotFarOff) {
  constexpr int kDraws = 20'000;
  constexpr std::size_t kLongest = 4;
  for (const MarkedTable& table : {MarkedTable{2, 12, 5}, MarkedTable{3, 12, 4}, MarkedTable{2, 12, 10}}) {
    std::vector<int> windows(30), periods(30);
    for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
      const auto marks = drawn(table, seed);
      ++windows.at(fewest_in_a_window(marks, table.rows));
      ++periods.at(fewest_in_a_period(marks, table.rows, kLongest));
    }
    double in_windows = 0, in_periods = 0;
    for (std::size_t few = 0; few < 4; ++few) {
      in_windows += windows[few], in_periods += periods[few];
      const double bound = chance_of_window(table, few);
      EXPECT_LE(in_windows / kDraws, 1.1 * bound + 0.001)
          << few << " exceptions, " << table.marks << " marks";
      EXPECT_LE(in_periods / kDraws, 1.1 * chance_of_period(table, few, kLongest) + 0.001) << few;
      if (few > 0) continue;
      EXPECT_GE(in_windows / kDraws, 0.7 * bound - 0.001);
    }
  }
}

}  // namespace
}  // namespace paceline::stats
