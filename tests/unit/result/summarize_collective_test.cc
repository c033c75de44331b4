// SPDX-License-Identifier: MIT
#include "result/figures/summarize_collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace paceline::result {
namespace {

// Three ranks, ten operations; rank 2 comes 400 ns late, so the others need that much longer.
CollectiveTimes times_of(std::int64_t bytes, bool in_place, std::int64_t ns) {
  CollectiveTimes t;
  t.bytes = bytes, t.count = bytes / 4, t.in_place = in_place, t.checked = true;
  t.batch = 10;
  t.batch_ns = {10 * ns, 10 * ns + 30, 10 * ns - 30};
  for (int i = 0; i < 20; ++i) t.sync_start_ns.push_back(1'000'000 + 5'000 * i);
  for (const std::int64_t wait : {400, 380, 0}) {
    auto& sync = t.sync_ns.emplace_back();
    for (int i = 0; i < 20; ++i) sync.push_back(ns + wait + i * 7 % 20);
    t.stream_ns.push_back(std::vector<std::int64_t>(10, ns));
  }
  return t;
}

CollectiveResult known(const std::string& operation) {
  CollectiveResult c;
  c.operation = operation;
  c.ranks.resize(3);
  return c;
}

TEST(Collectives, FiguresOfASize) {
  auto c = known("all_reduce");
  const TimesOfRepetitions times{{0, {times_of(3000, false, 1000), times_of(3000, true, 1000)}}};
  summarize_collective(c, times, 0.95);
  ASSERT_EQ(c.sizes.size(), 1u);
  const auto& f = c.sizes[0].out_of_place;
  EXPECT_DOUBLE_EQ(*f.batch_ns, 1000);             // the mean over the ranks, per operation
  EXPECT_DOUBLE_EQ(*f.batch_algbw_gb_per_s, 3.0);  // 3000 bytes in 1000 ns
  EXPECT_DOUBLE_EQ(*f.batch_busbw_gb_per_s, 4.0);  // x 2 (n - 1) / n
  EXPECT_DOUBLE_EQ(*f.sync_ns.value, 1409.5);      // of the slowest rank
  EXPECT_LE(*f.sync_ns.ci_low, 1409.5);
  EXPECT_GE(*f.sync_ns.ci_high, 1409.5);
  EXPECT_LT(*f.sync_busbw_gb_per_s.ci_low, *f.sync_busbw_gb_per_s.ci_high);
  EXPECT_EQ(*f.n, 20);
  EXPECT_FALSE(f.sync_p99_ns) << "20 operations carry no p99";
  EXPECT_DOUBLE_EQ(*f.sync_spread.min_ns, 1400);
  EXPECT_DOUBLE_EQ(*f.sync_spread.max_ns, 1419);
  EXPECT_DOUBLE_EQ(*f.sync_spread.mean_ns, 1409.5);
  EXPECT_NEAR(*f.sync_spread.stddev_ns, std::sqrt(35.0), 1e-9);
  EXPECT_FALSE(f.sync_spread.p95_ns) << "nor a p95";
  EXPECT_EQ(*c.wrong, 0);
  EXPECT_DOUBLE_EQ(*c.average_busbw_gb_per_s, 4.0);
}

TEST(Collectives, BusFactors) {
  for (const auto& [operation, factor] : {std::pair{"all_gather", 2.0 / 3},
                                          {"reduce_scatter", 2.0 / 3},
                                          {"all_to_all", 2.0 / 3},
                                          {"broadcast", 1.0},
                                          {"reduce", 1.0},
                                          {"send_recv", 1.0}}) {
    auto c = known(operation);
    summarize_collective(c, {{0, {times_of(3000, false, 1000)}}}, 0.95);
    EXPECT_DOUBLE_EQ(*c.sizes[0].out_of_place.batch_busbw_gb_per_s, 3.0 * factor) << operation;
    EXPECT_FALSE(c.sizes[0].in_place.n) << operation;
  }
}

TEST(Collectives, OneRankHasNoBus) {
  auto c = known("all_reduce");
  c.ranks.resize(1);
  auto t = times_of(3000, false, 1000);
  t.batch_ns.resize(1), t.sync_ns.resize(1), t.stream_ns.resize(1);
  summarize_collective(c, {{0, {t}}}, 0.95);
  EXPECT_FALSE(c.sizes[0].out_of_place.batch_busbw_gb_per_s);
  EXPECT_TRUE(c.sizes[0].out_of_place.batch_algbw_gb_per_s);
  EXPECT_FALSE(c.average_busbw_gb_per_s);
}

TEST(Collectives, ProcessesCarryTheIntervalOnceThereAreSix) {
  auto c = known("all_reduce");
  TimesOfRepetitions times;
  for (std::int64_t r = 0; r < 6; ++r) times[r] = {times_of(3000, false, 1000 + 100 * r)};
  summarize_collective(c, times, 0.95);
  const auto& p50 = c.sizes[0].out_of_place.sync_ns;
  EXPECT_DOUBLE_EQ(*p50.ci_low, 1409.5);  // the lowest and the highest median of six
  EXPECT_DOUBLE_EQ(*p50.ci_high, 1909.5);
  EXPECT_EQ(*c.sizes[0].out_of_place.n, 120);
  EXPECT_EQ(p50.ci_method, "binomial_processes");
  summarize_collective(c, times, 0.99);
  EXPECT_EQ(c.sizes[0].out_of_place.sync_ns.ci_method, "t_log_processes") << "order statistics need eight";
}

TEST(Collectives, TheLinkIsFittedToTheSizes) {
  auto c = known("all_reduce");
  std::vector<CollectiveTimes> sweep;
  for (std::int64_t bytes = 8; bytes <= 1 << 20; bytes *= 2)
    sweep.push_back(times_of(bytes, false, 20'000 + bytes / 2));
  summarize_collective(c, {{0, sweep}}, 0.95);
  ASSERT_EQ(c.link.size(), 1u);
  EXPECT_NEAR(*c.link[0].alpha_ns.value, 20'409.5, 50);  // with the wait for rank 2
  EXPECT_NEAR(*c.link[0].gb_per_s.value, 2.0, 0.01);
  EXPECT_LT(*c.link_error, 0.001);
}

TEST(Collectives, PredictsTheTimeOfASize) {
  auto c = known("all_reduce");
  EXPECT_FALSE(fitted_busbw(c, 1024)) << "there is no fit";
  c.link = {{8, 1024, {1000.0, {}, {}, 0.95, ""}, {1.0, {}, {}, 0.95, ""}},
            {2048, 4096, {2000.0, {}, {}, 0.95, ""}, {2.0, {}, {}, 0.95, ""}}};
  EXPECT_DOUBLE_EQ(*fitted_busbw(c, 1024), 1024 * (4.0 / 3) / (1000 + 1024));
  EXPECT_DOUBLE_EQ(*fitted_busbw(c, 4096), 4096 * (4.0 / 3) / (2000 + 2048));
}

TEST(Collectives, RanksThatTimedDifferentlyDoNotFit) {
  auto c = known("all_reduce");
  auto t = times_of(3000, false, 1000);
  t.sync_ns[1].pop_back();
  EXPECT_THROW(summarize_collective(c, {{0, {t}}}, 0.95), Error);
  EXPECT_THROW(largest_size_samples({t}, 0), Error);
}

TEST(Collectives, SamplesAreThoseOfTheLargestSize) {
  const auto samples =
      largest_size_samples({times_of(8, false, 10), times_of(3000, false, 1000), times_of(3000, true, 1)}, 2);
  ASSERT_EQ(samples.size(), 20u);
  EXPECT_EQ(samples[3].host_ns, 1401);
  EXPECT_EQ(samples[3].start_ns, 1'015'000);
  EXPECT_EQ(samples[3].repetition, 2);
  EXPECT_EQ(samples[3].index, 3);
}

TEST(Collectives, EveryOperationIsARow) {
  const auto csv = collective_times_csv({{1, {times_of(3000, true, 1000)}}});
  EXPECT_TRUE(
      csv.starts_with("repetition,bytes,in_place,mode,rank,index,duration_ns\n1,3000,1,sync,0,0,1400\n"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * 20 + 3 * 10);
}

}  // namespace
}  // namespace paceline::result
