// SPDX-License-Identifier: MIT
#include "stats/segments.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace paceline::stats {
namespace {

TEST(Segments, TheCutLiesBetweenTwoGroups) {
  EXPECT_EQ(cut_between_groups(std::array{1.0, 9.0, 2.0, 11.0, 1.5}), 5.5);
  EXPECT_EQ(cut_between_groups(std::array{3.0, 3.0, 3.0}), 3);
  EXPECT_EQ(cut_between_groups(std::array{7.0}), 7);
  // A level a billion times the distance between the groups.
  EXPECT_EQ(cut_between_groups(std::array{1e9 + 1, 1e9 + 8, 1e9 + 2}), 1e9 + 5);
}

TEST(Segments, TheBestSegmentIsThatOfAllWindows) {
  const std::vector<double> scores{-1, 2, -1, 3, -5, 4, -2, 1};
  Segment best;
  for (std::size_t first = 0; first < scores.size(); ++first) {
    double sum = 0;
    for (std::size_t end = first; end < scores.size(); ++end)
      if ((sum += scores[end]) > best.sum) best = {first, end - first + 1, sum};
  }
  const auto found = best_segment(scores);
  EXPECT_EQ(found.first, best.first);
  EXPECT_EQ(found.count, best.count);
  EXPECT_EQ(found.sum, best.sum);
  EXPECT_EQ(best_segment(std::array{-1.0, -2.0}).count, 0U);
}

}  // namespace
}  // namespace paceline::stats
