// SPDX-License-Identifier: MIT
#include "stats/weighted_draws.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace paceline::stats {
namespace {

TEST(WeightedDraws, OfAllWeightsIsTheProductOfTheirChances) {
  EXPECT_NEAR(chance_of_draws(std::array{1.0, 1.0, 1.0, 1.0}, 0.5, 4), 1 / 16.0, 1e-6);
  EXPECT_NEAR(chance_of_draws(std::array{5.0, 0.1, 40.0}, 0.25, 45.1), 1 / 64.0, 1e-6);
}

TEST(WeightedDraws, OfTheExpectedSumOrLessSaysNothing) {
  EXPECT_EQ(chance_of_draws(std::array{2.0, 2.0}, 0.5, 2), 1);
  EXPECT_EQ(chance_of_draws(std::array{2.0, 2.0}, 0.5, 0), 1);
  EXPECT_EQ(chance_of_draws(std::vector<double>{}, 0.5, 0), 1);
  EXPECT_EQ(chance_of_draws(std::array{0.0, 0.0}, 0.5, 0), 1);
}

// The bound of the binomial distribution with the relative entropy: (q/p)^... of 8 of 10 at 1/2.
TEST(WeightedDraws, OfEqualWeightsIsTheBoundOfTheBinomial) {
  const double bound = std::pow(0.5 / 0.8, 8) * std::pow(0.5 / 0.2, 2);
  EXPECT_NEAR(chance_of_draws(std::vector<double>(10, 3.0), 0.5, 24), bound, 1e-9);
}

TEST(WeightedDraws, BoundsTheShareThatIsSeen) {
  std::vector<double> weights;
  for (int i = 0; i < 20; ++i) weights.push_back(i % 4 == 0 ? 40 : 1 + i * 0.1);
  for (const double sum : {120.0, 160.0, 200.0}) {
    constexpr int kRuns = 20000;
    int seen = 0;
    for (std::uint64_t run = 0; run < kRuns; ++run) {
      const CounterRng random(run, 3);
      double drawn = 0;
      for (std::size_t i = 0; i < weights.size(); ++i) drawn += random.uniform(i) < 0.25 ? weights[i] : 0;
      seen += drawn >= sum;
    }
    const double bound = chance_of_draws(weights, 0.25, sum);
    EXPECT_LE(static_cast<double>(seen) / kRuns, bound) << sum;
    EXPECT_LE(bound, 20 * std::max(1, seen) / static_cast<double>(kRuns)) << sum;
  }
}

}  // namespace
}  // namespace paceline::stats
