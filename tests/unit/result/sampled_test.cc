// SPDX-License-Identifier: MIT
#include "result/stored/sampled.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "result/stored/result_json.h"

namespace paceline::result {
namespace {

SampledWindow meter(std::int64_t repetition, std::vector<double> watts) {
  SampledWindow window;
  window.sampler = "meter", window.repetition = repetition;
  window.readings = static_cast<std::int64_t>(watts.size());
  window.window_s = 2, window.cpu_s = 0.01;
  std::vector<double> times;
  for (std::size_t i = 0; i < watts.size(); ++i) times.push_back(0.5 * static_cast<double>(i));
  window.series.push_back({"cuda:0", "power", "W", times, std::move(watts), {}});
  return window;
}

TEST(Sampled, EveryReadingOfEveryWindowWeighsAlike) {
  auto second = meter(1, {60});
  second.cpu_s = 0.02;
  const auto all = summarize_sampled({meter(0, {10, 20}), second});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].sampler, "meter");
  EXPECT_EQ(all[0].windows, 2);
  EXPECT_EQ(all[0].readings, 3);
  EXPECT_EQ(all[0].cpu_share, Number(0.01));  // of the costlier window
  ASSERT_EQ(all[0].metrics.size(), 1U);
  const auto& power = all[0].metrics[0];
  EXPECT_EQ(power.device, "cuda:0");
  EXPECT_EQ(power.n, 3);
  EXPECT_EQ(power.mean, Number(30));
  EXPECT_EQ(power.min, Number(10));
  EXPECT_EQ(power.max, Number(60));
}

TEST(Sampled, NegativeReadingsAreNoSmallerThanTheyAre) {
  const auto power = summarize_sampled({meter(0, {-3, -1})})[0].metrics[0];
  EXPECT_EQ(power.max, Number(-1));
  EXPECT_EQ(power.min, Number(-3));
}

TEST(Sampled, SamplersDevicesMetricsUnitsAndRanksStayApart) {
  auto other = meter(0, {1});
  other.series.push_back({"cuda:1", "power", "W", {0}, {2}, {}});
  other.series.push_back({"cuda:0", "power", "kW", {0}, {3}, {}});
  other.series.push_back({"cuda:0", "clock", "W", {0}, {4}, {}});
  auto rank = meter(0, {5});
  rank.rank = 8;
  auto clock = meter(0, {6});
  clock.sampler = "clock";
  const auto all = summarize_sampled({other, rank, clock});
  ASSERT_EQ(all.size(), 2U);
  ASSERT_EQ(all[0].metrics.size(), 5U);
  for (const auto& metric : all[0].metrics) EXPECT_EQ(metric.n, 1) << metric.device << metric.metric;
  EXPECT_EQ(all[0].metrics[4].rank, 8);
  EXPECT_EQ(all[1].metrics[0].mean, Number(6));
}

TEST(Sampled, WordsAreCounted) {
  SampledWindow window;
  window.series.push_back({"cuda:0", "throttled", "", {0, 1, 2}, {}, {"none", "power cap", "none"}});
  const auto throttled = summarize_sampled({window})[0].metrics[0];
  EXPECT_EQ(throttled.n, 3);
  EXPECT_EQ(throttled.mean.reason(), "its values are words");
  ASSERT_EQ(throttled.words.size(), 2U);
  EXPECT_EQ(throttled.words[0].words, "none");
  EXPECT_EQ(throttled.words[0].n, 2);
  EXPECT_EQ(throttled.words[1].n, 1);
}

TEST(Sampled, AProblemOfEveryWindowIsReportedOnce) {
  SampledWindow broken;
  broken.sampler = "meter", broken.problem = "no meter here";
  const auto all = summarize_sampled({broken, broken});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].problems, std::vector<std::string>{"no meter here"});
  EXPECT_TRUE(all[0].metrics.empty());
  EXPECT_FALSE(all[0].cpu_share);
}

TEST(Sampled, TheFileHasARowPerReading) {
  auto window = meter(1, {10.25, 20});
  window.rank = 4;
  window.series.push_back({"cuda:0", "state", "", {0.5}, {}, {"hot, \"red\""}});
  EXPECT_EQ(sampled_csv({window}),
            "repetition,rank,sampler,device,metric,unit,time_s,value\n"
            "1,4,meter,cuda:0,power,W,0.000000,10.25\n"
            "1,4,meter,cuda:0,power,W,0.500000,20\n"
            "1,4,meter,cuda:0,state,,0.500000,\"hot, \"\"red\"\"\"\n");
}

TEST(Sampled, TheFileIsReadAgain) {
  auto window = meter(1, {10.25, 20});
  window.rank = 4;
  window.series.push_back({"cuda:0", "state", "", {0.5, 1}, {}, {"hot, \"red\"", "two\nlines"}});
  const auto file = std::filesystem::path(::testing::TempDir()) / "sampled.csv";
  write_file_atomic(file, sampled_csv({window, meter(2, {30})}));
  const auto back = read_sampled_csv(file);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].rank, 4);
  ASSERT_EQ(back[0].series.size(), 2U);
  EXPECT_EQ(back[0].series[0].numbers, (std::vector<double>{10.25, 20}));
  EXPECT_EQ(back[0].series[0].times_s, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(back[0].series[1].words, (std::vector<std::string>{"hot, \"red\"", "two\nlines"}));
  EXPECT_EQ(back[1].repetition, 2);
  EXPECT_EQ(sampled_csv(back), sampled_csv({window, meter(2, {30})}));
}

TEST(Sampled, AFileThatIsDamagedIsRefusedWithItsRow) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "damaged.csv";
  for (const std::string row : {"1,4,meter,cuda:0,power,W,0.5", "x,4,meter,cuda:0,power,W,0.5,1",
                                "1,4,meter,cuda:0,power,W,soon,1"}) {
    write_file_atomic(file, sampled_csv({meter(0, {1})}) + row + "\n");
    try {
      (void)read_sampled_csv(file);
      FAIL() << row;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("row 3"), std::string::npos) << e.what();
    }
  }
  write_file_atomic(file, "time,value\n");
  EXPECT_THROW((void)read_sampled_csv(file), Error);
}

TEST(Sampled, IsStoredWithItsCase) {
  CaseResult one;
  one.sampled = summarize_sampled({meter(0, {10, 40})});
  const auto back = case_from_json(to_json(one), "test");
  ASSERT_EQ(back.sampled.size(), 1U);
  ASSERT_EQ(back.sampled[0].metrics.size(), 1U);
  EXPECT_EQ(back.sampled[0].metrics[0].metric, "power");
  EXPECT_EQ(back.sampled[0].metrics[0].mean, Number(25));
  EXPECT_EQ(back.sampled[0].cpu_share, one.sampled[0].cpu_share);
}

// Each row is looked up by its names: going through all windows would take minutes.
TEST(Sampled, ManyWindowsCostTheirNumber) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "many.csv";
  std::string text = "repetition,rank,sampler,device,metric,unit,time_s,value\n";
  for (int i = 0; i < 150'000; ++i)
    text += fmt::format("{},0,nvml,{},power,W,0.5,{}\n", i, i % 3 == 0 ? "cuda:0" : "cuda:1", i);
  for (int i = 0; i < 150'000; ++i) text += fmt::format("0,0,nvml,d{},power,W,0.5,{}\n", i, i);
  write_file_atomic(file, text);
  const auto windows = read_sampled_csv(file);
  ASSERT_EQ(windows.size(), 150'000U);
  EXPECT_EQ(windows[0].series.size(), 150'001U);
  EXPECT_EQ(windows[7].repetition, 7);
  EXPECT_EQ(windows[7].series.at(0).device, "cuda:1");
  EXPECT_EQ(windows[7].series.at(0).numbers, std::vector<double>{7});
}

}  // namespace
}  // namespace paceline::result
