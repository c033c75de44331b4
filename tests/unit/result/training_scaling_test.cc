// SPDX-License-Identifier: MIT
#include "result/judged/training_scaling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "result/figures/summarize.h"

namespace paceline::result {
namespace {

// A case of `world` ranks with steps of so many ms. Every second process takes 5 % longer: the even ones of
// one rank, the odd ones of several. The ratios of pairs are 1.05 and 1 / 1.05 times that of the steps.
CaseResult scaled_case(std::int64_t world, double step_ms, std::int32_t processes = 6) {
  CaseResult c;
  c.case_id = "r" + std::to_string(world);
  c.benchmark.id = c.case_id;
  c.benchmark.kind = WorkloadKind::kTraining;
  c.benchmark.world_size = world;
  c.payload.emplace<Training>();
  std::vector<Sample> samples;
  for (std::int32_t repetition = 0; repetition < processes; ++repetition) {
    const double slow = (repetition % 2 == 0) == (world == 1) ? 1.05 : 1;
    Repetition r;
    r.index = repetition;
    r.p50_ns = step_ms * 1e6 * slow;
    c.repetitions.push_back(r);
    for (std::int64_t i = 0; i < 20; ++i) {
      Sample s;
      s.repetition = repetition;
      s.index = i;
      s.host_ns = std::llround(step_ms * 1e6 * (slow + 0.001 * static_cast<double>(i % 7 - 3)));
      samples.push_back(s);
    }
  }
  summarize(c, samples, {});
  return c;
}

TEST(Scaling, EfficiencyIsAgainstTheSmallestWorldWithAnInterval) {
  auto one = scaled_case(1, 100), two = scaled_case(2, 110), four = scaled_case(4, 125);
  compare_scaling({&four, &one, &two});
  EXPECT_FALSE(one.scaling);
  ASSERT_TRUE(four.scaling);
  const Scaling& s = *four.scaling;
  EXPECT_EQ(s.base_case_id, "r1");
  EXPECT_NEAR(*s.efficiency, 0.8, 1e-6);
  EXPECT_NEAR(*s.speedup, 3.2, 1e-5);
  EXPECT_NEAR(*s.ci_low, 0.8 / 1.05, 1e-6);
  EXPECT_NEAR(*s.ci_high, 0.8 * 1.05, 1e-6);
  EXPECT_FALSE(s.superlinear);
}

TEST(Scaling, StrongScalingDividesOneBatch) {
  auto one = scaled_case(1, 100), two = scaled_case(2, 62.5), weak = scaled_case(2, 110);
  for (CaseResult* strong : {&one, &two}) strong->benchmark.params["training.scaling"] = "strong";
  one.benchmark.batch_per_rank = 64, two.benchmark.batch_per_rank = 32, weak.benchmark.batch_per_rank = 64;
  compare_scaling({&one, &two, &weak});
  ASSERT_TRUE(two.scaling);
  EXPECT_FALSE(weak.scaling);
  const Scaling& s = *two.scaling;
  EXPECT_NEAR(*s.efficiency, 0.8, 1e-6);
  EXPECT_NEAR(*s.speedup, 1.6, 1e-6);
  EXPECT_NEAR(*s.ci_low, 0.8 / 1.05, 1e-6);
  EXPECT_NEAR(*s.ci_high, 0.8 * 1.05, 1e-6);
}

TEST(Scaling, FasterThanIdealIsPointedOut) {
  auto one = scaled_case(1, 100), two = scaled_case(2, 60);
  compare_scaling({&one, &two});
  EXPECT_TRUE(two.scaling->superlinear);
}

// The intervals of five processes are those of steps inside one, and the next process may differ by more.
TEST(Scaling, OfFewerThanSixProcessesClaimsNothing) {
  auto one = scaled_case(1, 100), two = scaled_case(2, 110, 5);
  two.headline.p50_ns.ci_low = 109e6, two.headline.p50_ns.ci_high = 111e6;
  compare_scaling({&one, &two});
  EXPECT_TRUE(two.scaling->efficiency);
  EXPECT_FALSE(two.scaling->ci_low);
  EXPECT_EQ(scaling_doubt(two), "fewer than six pairs of processes");
}

TEST(Scaling, OfGradeCIsClaimedByItsPairs) {
  auto one = scaled_case(1, 100), two = scaled_case(2, 60);
  one.grade = Grade::kC;
  compare_scaling({&one, &two});
  EXPECT_TRUE(two.scaling->superlinear);
  EXPECT_EQ(scaling_doubt(two), "");
}

TEST(Scaling, HalfAnIntervalAndAMissingValueAreNoClaim) {
  auto one = scaled_case(1, 100), two = scaled_case(2, 110);
  compare_scaling({&one, &two});
  auto half = two, bare = two;
  half.scaling->ci_high = Number::missing("");
  bare.scaling->speedup = Number::missing("");
  for (const auto& doubtful : {half, bare}) EXPECT_EQ(scaling_doubt(doubtful), "it has no interval");
}

TEST(Scaling, OnlyEqualWorkIsCompared) {
  auto one = scaled_case(1, 100), two = scaled_case(2, 110), failed = scaled_case(4, 120);
  two.benchmark.batch_per_rank = 64;
  failed.outcome = Outcome::kFailed;
  compare_scaling({&one, &two, &failed});
  EXPECT_FALSE(two.scaling);
  EXPECT_FALSE(failed.scaling);
}

}  // namespace
}  // namespace paceline::result
