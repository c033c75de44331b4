// SPDX-License-Identifier: MIT
#include "monitor/course.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace paceline::monitor {
namespace {

// At `s` seconds: `busy_s` of CPU time, a GPU that draws `watts` (none: it is not read), and a run in its
// pass.
Snapshot reading(double s, double busy_s, double watts, std::int64_t pass) {
  Snapshot one;
  one.utc_ms = 1'700'000'000'000 + std::llround(s * 1e3), one.steady_ns = std::llround(s * 1e9);
  one.add("paceline_cpu_seconds_total", "", {{"cpu", "0"}, {"mode", "user"}}, busy_s);
  one.add("paceline_cpu_seconds_total", "", {{"cpu", "0"}, {"mode", "idle"}}, s - busy_s);
  if (watts > 0) {
    one.add("paceline_gpu_sm_clock_hertz", "", {{"gpu", "0"}}, 1.98e9);
    one.add("paceline_gpu_power_watts", "", {{"gpu", "0"}}, watts);
  }
  if (pass > 0) {
    LiveRun run;
    run.label = "m b1", run.number = pass, run.of = 9;
    one.runs.push_back(run);
  }
  return one;
}

const report::MachineCurve& curve(const report::MachineCourse& course, const std::string& name) {
  return *std::ranges::find(course.curves, name, &report::MachineCurve::name);
}

TEST(Course, HasRatesBetweenReadingsAndNothingWhereNothingWasRead) {
  const auto course = course_of(
      {{"node1",
        {reading(0, 0, 0, 0), reading(2, 1, 300, 0), reading(4, 3, 0, 0), reading(6, 3.5, 200, 0)}}});
  EXPECT_EQ(course.host, "node1");
  EXPECT_EQ(course.begun_utc, "2023-11-14T22:13:20Z");
  EXPECT_THAT(course.times_s, ::testing::ElementsAre(0, 2, 4, 6));
  const auto& busy = curve(course, "CPUs busy").values;
  EXPECT_TRUE(std::isnan(busy[0]));
  EXPECT_THAT(std::vector(busy.begin() + 1, busy.end()), ::testing::ElementsAre(50, 100, 25));
  const auto& watts = curve(course, "GPU 0 power").values;
  ASSERT_EQ(watts.size(), 4U) << "also for the readings before it came";
  EXPECT_TRUE(std::isnan(watts[0]) && std::isnan(watts[2]));
  EXPECT_EQ(watts[1], 300);
  EXPECT_EQ(watts[3], 200);
  EXPECT_EQ(curve(course, "GPU 0 clock").values[1], 1980);
}

TEST(Course, APassLastsFromItsFirstReadingToItsLast) {
  const auto course = course_of({{"n",
                                  {reading(0, 0, 0, 1), reading(1, 0, 0, 1), reading(2, 0, 0, 2),
                                   reading(3, 0, 0, 0), reading(4, 0, 0, 3)}}});
  ASSERT_EQ(course.passes.size(), 3U);
  EXPECT_EQ(course.passes[0].label, "m b1 1/9");
  EXPECT_EQ(course.passes[0].to_s, 1);
  EXPECT_EQ(course.passes[1].from_s, 2);
  EXPECT_EQ(course.passes[1].to_s, 2);
  EXPECT_EQ(course.passes[2].from_s, 4);
}

TEST(Course, OfARunHasItsOwnPassesAlone) {
  auto both = reading(0, 0, 0, 1);
  both.runs[0].folder = "/results/e/mine";
  both.runs.push_back(both.runs[0]);
  both.runs[1].folder = "/results/e/theirs", both.runs[1].label = "theirs";
  const auto course = course_of({{"n", {both}}}, "mine");
  ASSERT_EQ(course.passes.size(), 1U);
  EXPECT_EQ(course.passes[0].label, "m b1 1/9");
  EXPECT_EQ(course_of({{"n", {both}}}).passes.size(), 2U);
}

TEST(Course, BetweenTwoRecordingsNothingIsDrawn) {
  const auto course = course_of({{"n", {reading(0, 0, 100, 1), reading(1, 1, 100, 1)}},
                                 {"n", {reading(9, 5, 100, 1), reading(10, 5, 100, 1)}}});
  EXPECT_EQ(course.readings, 4U);
  EXPECT_THAT(course.times_s, ::testing::ElementsAre(0, 1, 5, 9, 10));
  EXPECT_TRUE(std::isnan(curve(course, "GPU 0 power").values[2]));
  const auto& busy = curve(course, "CPUs busy").values;
  EXPECT_TRUE(std::isnan(busy[3])) << "a rate over the time in which nothing was read";
  EXPECT_EQ(busy[4], 0);
  EXPECT_EQ(course.passes.size(), 2U);
}

TEST(Course, OfNoReadingsIsEmpty) {
  EXPECT_TRUE(course_of({}).empty());
  EXPECT_TRUE(course_of({{"n", {}}}).empty());
}

}  // namespace
}  // namespace paceline::monitor
