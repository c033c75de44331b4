// SPDX-License-Identifier: MIT
#include "run/inference/peak.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "config/plan.h"
#include "run/inference/case_peaks.h"
#include "run/inference/peak_probes.h"

namespace paceline::run {
namespace {

Peak probe(std::optional<double> flops_per_s, const std::string& source) {
  return {flops_per_s ? Number(*flops_per_s) : Number::missing(source), {}, source};
}

TEST(Peak, IsTheBestOfTheProbes) {
  const auto best = [](const std::vector<Peak>& probes) {
    Peak peak = probes.front();
    for (const auto& other : probes) peak = better_of(peak, other);
    return peak;
  };
  EXPECT_EQ(best({probe(3e9, "a"), probe(5e9, "b"), probe(4e9, "c")}).source, "b");
  EXPECT_EQ(best({probe({}, "not here"), probe(4e9, "b"), probe({}, "neither")}).source, "b");
  EXPECT_EQ(best({probe({}, "not here"), probe({}, "neither")}).flops_per_s.reason(), "not here");
}

TEST(Peak, CopiesAreFourTimesAllCachesWhereThatFits) {
  const std::int64_t epyc = 12LL * 32 << 20, gib = 1LL << 30;
  EXPECT_EQ(copy_bytes(32LL << 20, gib), 256'000'000);
  EXPECT_EQ(copy_bytes(epyc, 64 * gib), 4 * epyc);
  EXPECT_EQ(copy_bytes(8 * epyc, 64 * gib), 32 * epyc) << "more than 2 GB";
  EXPECT_EQ(copy_bytes(epyc, Count::missing("no /proc")), 4 * epyc);
  EXPECT_EQ(copy_bytes(epyc, 4 * gib).reason(),
            "copies that caches do not hold take 1.61 GB, more than a quarter of the 4.29 GB that may be "
            "used");
}

// A cache folder of its own, and probes that find what the test says.
class PeakTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    ASSERT_EQ(::setenv("XDG_CACHE_HOME", folder_.c_str(), 1), 0);
  }
  PeakTable table() {
    return PeakTable("a CPU", [this](const std::string&, int) {
      ++measured_;
      return Peak{found_, spread_, "probe"};
    });
  }
  std::filesystem::path folder_;
  double found_ = 182e9, spread_ = 0.03;
  int measured_ = 0;
};

TEST_F(PeakTableTest, IsMeasuredOnceAndKeptWithItsSpread) {
  auto first = table();
  EXPECT_FALSE(first.known("fp32", 2).flops_per_s);
  EXPECT_EQ(*first.get("fp32", 2).flops_per_s, 182e9);
  EXPECT_EQ(*first.get("amp_fp32", 2).flops_per_s, 182e9);
  EXPECT_EQ(measured_, 1);
  const auto second = table();
  EXPECT_EQ(*second.known("fp32", 2).flops_per_s, 182e9);
  EXPECT_EQ(*second.known("fp32", 2).spread, 0.03);
  EXPECT_FALSE(second.known("fp32", 1).flops_per_s);
}

TEST_F(PeakTableTest, CopiesBesideBusyNeighboursAreNotKeptForLaterRuns) {
  spread_ = 0.23;
  auto disturbed = table();
  EXPECT_EQ(*disturbed.get(kCopies, 2).flops_per_s, 182e9);
  EXPECT_FALSE(table().known(kCopies, 2).flops_per_s);
  spread_ = 0.02;
  table().get(kCopies, 2);
  EXPECT_TRUE(table().known(kCopies, 2).flops_per_s);
}

// The peak was measured at 182 GFLOP/s, and a case reached 300: it was shown no share, whatever the user did.
TEST_F(PeakTableTest, ACaseThatPassesItRaisesIt) {
  auto before = table();
  before.get("fp32", 2);
  auto after = table();
  const auto words = after.raise("fp32", 2, 300e9, "resnet50 onnxruntime fp32 b1");
  EXPECT_EQ(measured_, 2) << "not measured again first";
  EXPECT_NE(words.find("from 182 GFLOP/s to 300 GFLOP/s, which resnet50 onnxruntime fp32 b1 reached"),
            std::string::npos)
      << words;
  EXPECT_NE(words.find(PeakTable::file().string()), std::string::npos) << words;
  EXPECT_EQ(*table().known("fp32", 2).flops_per_s, 300e9);
  EXPECT_NE(table().known("fp32", 2).source.find("probes: 182 GFLOP/s"), std::string::npos);
}

TEST_F(PeakTableTest, MeasuringAgainMaySuffice) {
  table().get("fp32", 2);
  found_ = 400e9;
  auto after = table();
  EXPECT_NE(after.raise("fp32", 2, 300e9, "a case").find("to 400 GFLOP/s, measured again"),
            std::string::npos);
  EXPECT_EQ(*table().known("fp32", 2).flops_per_s, 400e9);
}

TEST_F(PeakTableTest, MeasuresEachPeakOncePerRun) {
  auto one = table();
  one.get("fp32", 2);
  one.raise("fp32", 2, 200e9, "a case");
  EXPECT_EQ(measured_, 1);
  EXPECT_EQ(*one.known("fp32", 2).flops_per_s, 200e9);
}

TEST_F(PeakTableTest, FlopsThatAreCountedWronglyRaiseNothing) {
  auto one = table();
  one.get("fp32", 2);
  EXPECT_EQ(one.raise("fp32", 2, 1e15, "a case"), "");
  EXPECT_EQ(*one.known("fp32", 2).flops_per_s, 182e9);
}

// Each 1.8 times the case before: only the first is less than twice what the probes measured.
TEST_F(PeakTableTest, CasesDoNotRaiseItStepByStep) {
  table().get("fp32", 2);
  table().raise("fp32", 2, 1.8 * 182e9, "a case");
  auto later = table();
  EXPECT_EQ(later.raise("fp32", 2, 1.8 * 1.8 * 182e9, "another case"), "");
  EXPECT_EQ(*later.known("fp32", 2).flops_per_s, 1.8 * 182e9);
  EXPECT_NE(later.raise("fp32", 2, 1.9 * 182e9, "a third case"), "");
  EXPECT_NE(table().known("fp32", 2).source.find("probes: 182 GFLOP/s"), std::string::npos);
  found_ = 200e9;
  EXPECT_NE(table().raise("fp32", 2, 1.95 * 200e9, "a case"), "") << "the probes measured more";
}

// Its rate is that of all instances together.
TEST_F(PeakTableTest, ACaseOfSeveralLanesHasThePeakOfAllTheirThreads) {
  const std::atomic<bool> interrupt = false;
  RunObserver observer;
  RunSetup setup{{}, {}, {}, false, true, EngineDirectory({}), {}, {}, {}, {}};
  setup.environment = {{"cpu", {{"model", "a CPU"}}}};
  CaseRun c;
  c.definition = config::expand(
      config::load_plan_text("kind: inference\nmodels: [tiny_cnn]\nengines: [eager]\n", "test.yaml"))[0];
  c.result.benchmark.precision = "fp32";
  c.base.settings.threads = 2, c.base.inference.load.instances = 3, c.base.inference.load.concurrency = 2;
  const auto filled = [&] {
    CasePeaks(setup, folder_, observer, interrupt).fill(c);
    return c.result.flops.peak_measured_flops_per_s;
  };
  table().get("fp32", 2), table().get(kCopies, 2);
  EXPECT_FALSE(filled()) << "that of one lane";
  found_ = 900e9;
  table().get("fp32", 12), table().get(kCopies, 12);
  EXPECT_EQ(filled(), Number(900e9));
  EXPECT_EQ(c.result.device_peaks->device, "a CPU, 12 threads");
  setup.environment["cpu"]["cores_allowed"] = 8;
  EXPECT_FALSE(filled()) << "no more threads than CPUs";
}

}  // namespace
}  // namespace paceline::run
