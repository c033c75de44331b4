// SPDX-License-Identifier: MIT
#include "result/figures/late_causes.h"

#include <gmock/gmock.h>

#include <functional>

#include "result/figures/summarize_training.h"
#include "support/simulated_training.h"

namespace paceline::result {
namespace {

using ::testing::HasSubstr;

// Three ranks that nothing disturbs; rank 1 takes 20 of its 120 ms longer than the others.
constexpr Lateness kLate{.rank = 1, .own_ns = 120e6, .late_ns = 20e6};

std::vector<RankFigures> quiet_ranks() {
  std::vector<RankFigures> ranks(3);
  for (auto& rank : ranks) {
    rank.rank = &rank - ranks.data();
    rank.cpus = "4-5";
    auto& e = rank.evidence;
    e.runq_wait_ns = 1e6, e.cpu_ns = 100e6, e.system_ns = 2e6, e.minor_faults = 3, e.major_faults = 0;
    e.throttled_ns = 0, e.steal_frac = 0.001, e.foreign_frac = 0.01, e.core_mhz = 2000, e.device_mhz = 1980;
  }
  return ranks;
}

std::vector<LateCause> causes_with(const std::function<void(RankEvidence&)>& disturb,
                                   const Lateness& late = kLate) {
  auto ranks = quiet_ranks();
  disturb(ranks[1].evidence);
  return causes_of(late, ranks);
}

TEST(LateCauses, WithoutEvidenceTheCauseIsUnknown) {
  EXPECT_TRUE(causes_with([](RankEvidence&) {}).empty());
  EXPECT_TRUE(causes_of(kLate, std::vector<RankFigures>(3)).empty());
}

struct NamedCause {
  const char* name;
  std::function<void(RankEvidence&)> disturb;
  double explains_ms;
  const char* words;
};

TEST(LateCauses, EachIsNamedByItsEvidence) {
  const std::vector<NamedCause> all{
      {"cpu_wait", [](RankEvidence& e) { e.runq_wait_ns = 16e6; }, 15, "waited 16.0 ms per step for a CPU"},
      {"foreign_process",
       [](RankEvidence& e) {
         e.runq_wait_ns = 16e6, e.foreign_frac = 0.4, e.foreign_process = "cc1plus (pid 7)";
       },
       15,
       "other processes used 40.0 % of its CPUs 4-5 (1.0 % on the other ranks); cc1plus (pid 7) used most "
       "of it"},
      {"steal", [](RankEvidence& e) { e.steal_frac = 0.101; }, 12, "the hypervisor took 10.1 %"},
      {"cpu_quota", [](RankEvidence& e) { e.throttled_ns = 18e6; }, 18,
       "stopped its threads for 18.0 ms per step"},
      {"clock", [](RankEvidence& e) { e.core_mhz = 1700; }, 18, "was 1700 MHz (2000 MHz on the other ranks)"},
      {"device_clock",
       [](RankEvidence& e) {
         e.device_mhz = 1485, e.device_slowdowns = {{"thermal slowdown", 0.8}};
       },
       30, "was 1485 MHz (1980 MHz on the other ranks); thermal slowdown in 80.0 % of the samples"},
      {"page_faults", [](RankEvidence& e) { e.minor_faults = 9000, e.system_ns = 14e6; }, 12,
       "9000 page faults per step"},
      {"cpu_time", [](RankEvidence& e) { e.cpu_ns = 118e6; }, 18,
       "it used 118 ms of CPU time per step (100 ms on the other ranks)"}};
  for (const auto& one : all) {
    const auto causes = causes_with(one.disturb);
    ASSERT_EQ(causes.size(), 1U) << one.name;
    EXPECT_EQ(causes[0].name, one.name);
    EXPECT_NEAR(*causes[0].explains_ns * 1e-6, one.explains_ms, 1e-9) << one.name;
    EXPECT_THAT(causes[0].evidence, HasSubstr(one.words));
  }
}

TEST(LateCauses, CausesThatExplainTooLittleAreNotNamed) {
  EXPECT_TRUE(causes_with([](RankEvidence& e) { e.runq_wait_ns = 6.9e6; }).empty());
  EXPECT_EQ(causes_with([](RankEvidence& e) { e.runq_wait_ns = 7.1e6; }).size(), 1U);
  EXPECT_TRUE(causes_with([](RankEvidence& e) { e.system_ns = 14e6; }).empty())
      << "kernel time without faults";
}

TEST(LateCauses, CpuTimeIsNoCauseBesideOneThatTakesIt) {
  const auto causes = causes_with([](RankEvidence& e) { e.core_mhz = 1700, e.cpu_ns = 118e6; });
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].name, "clock");
}

TEST(LateCauses, ADisturbanceOfAllRanksMakesNoneLate) {
  auto ranks = quiet_ranks();
  for (auto& rank : ranks) rank.evidence.runq_wait_ns = 30e6, rank.evidence.steal_frac = 0.3;
  EXPECT_TRUE(causes_of(kLate, ranks).empty());
}

TEST(LateCauses, TheLargestComesFirstAndADiskIsNamedWithoutATime) {
  const auto causes =
      causes_with([](RankEvidence& e) { e.runq_wait_ns = 9e6, e.throttled_ns = 15e6, e.major_faults = 2.5; });
  ASSERT_EQ(causes.size(), 3U);
  EXPECT_EQ(causes[0].name, "cpu_quota");
  EXPECT_EQ(causes[1].name, "cpu_wait");
  EXPECT_EQ(causes[2].name, "disk_reads");
  EXPECT_FALSE(causes[2].explains_ns);
  EXPECT_THAT(causes[2].evidence, HasSubstr("2.5 pages"));
}

TEST(LateCauses, TimesSummedOverThreadsCountForEachOfThem) {
  auto ranks = quiet_ranks();
  for (auto& rank : ranks) rank.threads = 4;
  ranks[1].evidence.throttled_ns = 20e6;
  EXPECT_TRUE(causes_of(kLate, ranks).empty());
  ranks[1].evidence.throttled_ns = 40e6;
  ASSERT_EQ(causes_of(kLate, ranks).size(), 1U);
  EXPECT_NEAR(*causes_of(kLate, ranks).front().explains_ns, 10e6, 1);
}

TEST(LateCauses, FewReadsFromADiskExplainNoLongDelay) {
  auto late = kLate;
  late.late_ns = 100e6;
  const auto with = [&](double reads) {
    return causes_with([&](RankEvidence& e) { e.major_faults = reads; }, late).size();
  };
  EXPECT_EQ(with(2.9), 0U);
  EXPECT_EQ(with(3.1), 1U);
}

TEST(LateCauses, ALoaderIsNamedByItsWait) {
  auto late = kLate;
  late.data_wait_ns = 21e6, late.others_data_wait_ns = 1e6;
  const auto causes = causes_with([](RankEvidence&) {}, late);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].name, "loader");
}

TEST(LateCauses, ARankThatIsNotLateHasNone) {
  EXPECT_TRUE(causes_with([](RankEvidence& e) { e.runq_wait_ns = 9e6; }, {.rank = 1, .own_ns = 1e6}).empty());
}

// A repetition of four simulated ranks, of which rank 2 is late; its wait for a CPU is `wait_ms` per step.
Repetition late_repetition(double wait_ms) {
  auto run = testing::simulate({.delays = {{.rank = 2, .ms = 18}}});
  for (auto& table : run.ranks) table.rank.evidence.runq_wait_ns = table.rank.rank == 2 ? wait_ms * 1e6 : 0;
  Repetition repetition;
  repetition.payload.emplace<Training>().ddp = true;
  summarize_training(*repetition.training(), run.ranks, 8);
  return repetition;
}

TEST(LateCauses, OfACaseAreThoseOfAllRepetitions) {
  const auto always = combined_training({late_repetition(17), late_repetition(16)});
  ASSERT_EQ(always->late.size(), 1U);
  ASSERT_EQ(always->late.front().causes.size(), 1U);
  EXPECT_NEAR(*always->late.front().causes.front().explains_ns, 16e6, 1);
  const auto once = combined_training({late_repetition(0), late_repetition(16)});
  ASSERT_EQ(once->late.size(), 1U);
  EXPECT_TRUE(once->late.front().causes.empty());
}

}  // namespace
}  // namespace paceline::result
