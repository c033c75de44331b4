// SPDX-License-Identifier: MIT
#include "report/case_cells.h"

#include <gtest/gtest.h>

#include "support/sample_runs.h"

namespace paceline::report {
namespace {

result::Estimate estimate_ns(double value) {
  result::Estimate estimate;
  estimate.value = value;
  return estimate;
}

TEST(CaseCells, AMissingIntervalIsNotAnIntervalOfZero) {
  auto estimate = estimate_ns(54.1e6);
  EXPECT_EQ(with_interval(estimate, 1e-6), "54.1");
  estimate.ci_low = 53.0e6;
  EXPECT_EQ(with_interval(estimate, 1e-6), "54.1");
  estimate.ci_high = 55.1e6;
  EXPECT_EQ(with_interval(estimate, 1e-6), "54.1 ±1.1");
}

TEST(CaseCells, RanksStartedByHandAreNotStartedByByHand) {
  EXPECT_EQ(launcher_words(""), "by paceline");
  EXPECT_EQ(launcher_words("mpirun"), "by mpirun");
  EXPECT_EQ(launcher_words("by hand"), "by hand, one command per host");
  EXPECT_EQ(launcher_words("environment"), "by hand, with RANK and WORLD_SIZE");
}

TEST(CaseCells, OneHalfWidthStandsOnlyForAboutSymmetricIntervals) {
  const auto shown = [](double value, double low, double high) {
    result::Estimate e{value, low, high, 0.95, ""};
    return with_interval(e);
  };
  EXPECT_EQ(shown(8.23, 3.74, 54.3), "8.23 (3.74–54.30)");
  EXPECT_EQ(shown(54.1, 53.2, 55.4), "54.1 ±1.3");
  EXPECT_EQ(shown(54.1, 53.8, 56.0), "54.1 (53.8–56.0)");
  EXPECT_EQ(shown(54.1, 54.05, 54.3), "54.1 ±0.2");  // too little to see
  EXPECT_EQ(shown(3580, 259, 8181), "3580 (259–8181)") << "there are no negative times";
  EXPECT_EQ(shown(1.0, -2.0, 4.0), "1.00 ±3.00");
}

TEST(CaseCells, TimesOfBuildsStandInTheTableWhereAFileWasBuilt) {
  ReportRun run{testing::sample_run(), {}};
  auto& file = run.result.cases[1].model_file;
  const auto table = [&] { return case_table(std::span(&run, 1), Form::kMarkdown); };
  file.format = "onnx", file.prepare_ns = 0.4e9;
  EXPECT_EQ(std::ranges::count(table().heads, std::string("built in")), 0) << "every engine reads it";
  file.format = ".pt2", file.prepare_ns = 33.1e9;
  ASSERT_EQ(table().heads.at(5), "built in");
  EXPECT_EQ(table().rows.at(1).cells.at(5).text, "33.1 s");
  EXPECT_EQ(table().rows.at(0).cells.at(5).text, kNone);
  file.prepare_ns = Number::missing("given");
  EXPECT_EQ(std::ranges::count(table().heads, std::string("built in")), 0);
}

TEST(CaseCells, UnclaimedRatiosHaveNoNumber) {
  ReportRun run{testing::sample_run(), {}};
  auto& one = run.result.cases[1];
  const auto speedup = [&] {
    const auto table = case_table(std::span(&run, 1), Form::kMarkdown);
    EXPECT_EQ(table.heads.at(4), "vs baseline");
    return table.rows.at(1).cells.at(4);
  };
  EXPECT_EQ(speedup().text, "1.13 ±0.03");
  one.speedup.verdict = result::Speed::kInconclusive;
  EXPECT_EQ(speedup().text, "1.10–1.16");
  EXPECT_EQ(speedup().note, "");
  const auto number = one.speedup;
  one.speedup.verdict = result::Speed::kFaster,
  one.speedup.no_size = "the times of the processes differ too much";
  one.speedup.ratio.value = one.speedup.ratio.ci_low = one.speedup.ratio.ci_high = {};
  EXPECT_EQ(speedup().text, "faster");
  EXPECT_EQ(speedup().note, "no size: the times of the processes differ too much");
  one.speedup = number;
  one.speedup.reason = "fewer than six pairs of processes";
  EXPECT_EQ(speedup().text, "no claim");
  EXPECT_EQ(speedup().note, "no claim: fewer than six pairs of processes");
}

TEST(CaseCells, RatesOfDifferentThingsHaveAUnitEach) {
  ReportRun run{testing::sample_run(), {}};
  const auto rate = [&](const char* head) {
    const auto table = case_table(std::span(&run, 1), Form::kMarkdown);
    EXPECT_EQ(table.heads.at(3), head);
    return table.rows.at(1).cells.at(3).text;
  };
  const auto alike = rate("images/s");
  run.result.cases[1].throughput.item = "GB";
  EXPECT_EQ(rate("throughput"), alike + " GB/s");
}

TEST(CaseCells, AMissingValueIsNoText) {
  EXPECT_EQ(with_interval(result::Estimate{}, 1e-6), "");
}

TEST(ReportCases, AreNamedWithTheirRunWhereThereAreSeveral) {
  const ReportRun run{testing::sample_run(), {}};
  const std::vector<ReportRun> twice{run, run};
  EXPECT_EQ(name_of(side_by_side(std::span(&run, 1)).front()), "resnet50 eager fp32 b1");
  EXPECT_EQ(name_of(side_by_side(twice)[1]), "B: resnet50 eager fp32 b1");
}

TEST(CaseCells, EnergyAboveIdleNeedsTheIdlePowerToo) {
  result::CaseResult one;
  one.throughput.item = "images";
  EXPECT_EQ(energy_text(one, 0.61, 0.41, 60.0, 30.0), "0.61 J per image, 0.41 above 60 W of idle");
  EXPECT_EQ(energy_text(one, 0.61, 0.41, {}, 30.0), "0.61 J per image");
}

TEST(CaseCells, BatchesAreDescribed) {
  result::CaseResult one;
  EXPECT_EQ(batching_text(one), "");
  auto& load = one.payload.emplace<result::Load>();
  EXPECT_EQ(batching_text(one), "");
  load.max_batch = 4;
  load.batching = "dynamic";
  load.batch_sizes = {{1, 25}, {4, 75}};
  EXPECT_EQ(
      batching_text(one),
      "Batches: up to 4 requests, which wait for no others; dynamic. Requests by the size of their batch: 1: "
      "25.0 %, 4: 75.0 %.");
  load.batch_timeout_ns = 2e6;
  load.batch_sizes.clear();
  const auto text = batching_text(one);
  EXPECT_NE(text.find("whose first waits at most 2.00 ms for the others"), std::string::npos) << text;
  EXPECT_NE(text.find("No request was completed."), std::string::npos) << text;
}

}  // namespace
}  // namespace paceline::report
