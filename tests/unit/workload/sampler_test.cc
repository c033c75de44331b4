// SPDX-License-Identifier: MIT
#include "workload/training/data/sampler.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "unit/workload/throws_with.h"

namespace paceline::workload {
namespace {

std::vector<std::int64_t> samples_of_step(const Sampler& sampler, std::int64_t step, std::int64_t count) {
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < count; ++i) samples.push_back(sampler.sample(step, i));
  return samples;
}

// Samples of all ranks together in one step.
std::multiset<std::int64_t> joint_step(Sharding sharding, std::int64_t step) {
  std::multiset<std::int64_t> seen;
  for (sharding.rank = 0; sharding.rank < sharding.world; ++sharding.rank)
    for (const auto sample : samples_of_step(Sampler(sharding), step, sharding.samples_per_step_of_rank))
      seen.insert(sample);
  return seen;
}

TEST(Permutation, HasEveryValueOnce) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097}) {
    const Permutation order(size, 7);
    std::set<std::int64_t> values;
    for (std::int64_t i = 0; i < size; ++i) {
      EXPECT_GE(order(i), 0);
      EXPECT_LT(order(i), size);
      values.insert(order(i));
    }
    EXPECT_EQ(std::ssize(values), size);
  }
}

TEST(Permutation, PutsEveryValueAnywhereEquallyOften) {
  constexpr std::int64_t kSize = 10, kKeys = 20'000;
  for (const std::int64_t place : {0, 3, 9}) {
    std::vector<int> count(kSize);
    for (std::uint64_t key = 0; key < kKeys; ++key)
      ++count[static_cast<std::size_t>(Permutation(kSize, key)(place))];
    for (const int n : count) EXPECT_NEAR(n, kKeys / kSize, 5 * 42.5);  // 5 standard deviations
  }
}

class Partition : public ::testing::TestWithParam<std::tuple<int, std::int64_t>> {};

TEST_P(Partition, NoSampleTwiceInAnEpochAndNoneInvented) {
  const auto [world, batch] = GetParam();
  const Sharding sharding{101, batch, 0, world, true, 3};
  const Sampler sampler(sharding);
  EXPECT_EQ(sampler.steps_per_epoch(), 101 / (batch * world));
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<std::int64_t> seen;
    for (std::int64_t s = 0; s < sampler.steps_per_epoch(); ++s)
      for (const auto sample : joint_step(sharding, epoch * sampler.steps_per_epoch() + s)) {
        EXPECT_TRUE(seen.insert(sample).second) << sample;
        EXPECT_GE(sample, 0);
        EXPECT_LT(sample, 101);
      }
    EXPECT_EQ(std::ssize(seen), sampler.steps_per_epoch() * batch * world);
  }
}

INSTANTIATE_TEST_SUITE_P(WorldsAndBatches, Partition,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4, 7),
                                            ::testing::Values<std::int64_t>(1, 3, 8, 14)));

TEST(Sampler, EveryEpochHasItsOwnOrderAndSeedsDiffer) {
  const Sampler sampler({40, 40, 0, 1, true, 1});
  const auto first = samples_of_step(sampler, 0, 40);
  EXPECT_NE(first, samples_of_step(sampler, 1, 40));
  EXPECT_EQ(first, samples_of_step(Sampler({40, 40, 0, 1, true, 1}), 0, 40));
  EXPECT_NE(first, samples_of_step(Sampler({40, 40, 0, 1, true, 2}), 0, 40));
  EXPECT_EQ(sampler.epoch(0), 0);
  EXPECT_EQ(sampler.epoch(1), 1);
}

TEST(Sampler, WithoutShufflingSamplesAreDealtInTurns) {
  EXPECT_EQ(samples_of_step(Sampler({20, 3, 1, 2, false, 1}), 0, 3), (std::vector<std::int64_t>{1, 3, 5}));
  EXPECT_EQ(samples_of_step(Sampler({20, 3, 1, 2, false, 1}), 1, 3), (std::vector<std::int64_t>{7, 9, 11}));
}

TEST(Sampler, AStepOfAllRanksIsTheSameForAnyNumberOfThem) {
  for (const std::int64_t step : {0, 1, 5, 9})
    EXPECT_EQ(joint_step({50, 8, 0, 1, true, 9}, step), joint_step({50, 2, 0, 4, true, 9}, step));
}

TEST(Sampler, ADataSetSmallerThanOneStepIsRefusedWithFigures) {
  test::expect_error(ErrorCode::kConfig, {"15 samples", "takes 16", "8 on each of 2 ranks"}, [] {
    Sampler({15, 8, 0, 2, true, 1});
  });
  EXPECT_EQ(Sampler({16, 8, 0, 2, true, 1}).steps_per_epoch(), 1);
}

}  // namespace
}  // namespace paceline::workload
