// SPDX-License-Identifier: MIT
#include "history/trend.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "answer/render/answer_forms.h"
#include "history_runs.h"

namespace paceline::history {
namespace {

using ::testing::HasSubstr;

struct Way {
  double case_shift = 0, machine_shift = 0;  // from run 20 of 40 on
  int machine_at = 20;
  bool machine_known = true;
};

double wobble_of(int i) {
  return 1 + 0.008 * (std::fmod(0.618034 * i, 1) - 0.5);  // no two alike
}

// Newest first, as the index gives them.
std::vector<Indexed> runs_on(const Way& way, int count = 40) {
  std::vector<Indexed> runs;
  for (int i = 0; i < count; ++i) {
    auto entry = testing::entry_in("results", i, 10 * wobble_of(i) * (i >= 20 ? 1 + way.case_shift : 1));
    auto& figures = entry.cases[0].figures;
    std::erase_if(figures, [](const Figure& f) { return f.metric.starts_with("machine_"); });
    if (way.machine_known)
      figures.push_back({std::string(kControlPeak),
                         100 * wobble_of(i + 3) * (i >= way.machine_at ? 1 + way.machine_shift : 1),
                         {},
                         {}});
    entry.commit = i >= 20 ? "bbbbbbbbbbbb" : "aaaaaaaaaaaa";
    runs.push_back({std::move(entry), false, false, {}, {}});
  }
  std::ranges::reverse(runs);
  return runs;
}

Course only_course(const Way& way, int count = 40) {
  const auto courses = courses_of(runs_on(way, count), "");
  EXPECT_EQ(courses.size(), 1U);
  return courses.at(0);
}

TEST(Trend, AChangeOfTheCaseAloneIsNotTheMachines) {
  const auto course = only_course({.case_shift = 0.1});
  ASSERT_EQ(course.changes.points.size(), 1U);
  EXPECT_EQ(course.changes.points[0].first, 20U);
  EXPECT_TRUE(course.control_changes.points.empty());
  EXPECT_EQ(cause_of(course, course.changes.points[0]), Cause::kNotMachine);
  const auto answer = trend_answer({course});
  ASSERT_EQ(answer.findings.size(), 1U);
  EXPECT_EQ(answer.findings[0].severity, "warning");
  EXPECT_THAT(answer.sentence, HasSubstr("look at the code"));
  EXPECT_THAT(answer.sentence, HasSubstr("commit aaaaaaaaa → bbbbbbbbb"));
  EXPECT_EQ(answer.checks.at(0).verdict, answer::Verdict::kReservedly);
  EXPECT_EQ(answer::exit_code_of(answer), ExitCode::kOk);
}

TEST(Trend, RunsThatWereCutShortAreSaidToBe) {
  auto runs = runs_on({});
  runs.front().run.cases[0].outcome = kCutShort;
  const auto answer = trend_answer(courses_of(runs, ""));
  ASSERT_EQ(answer.remarks.size(), 1U);
  EXPECT_THAT(answer.remarks[0],
              HasSubstr("1 of 40 runs was interrupted; the figures are of what was measured until then"));
  EXPECT_EQ(answer.data["series"][0]["runs"].back()["outcome"], kCutShort);
  EXPECT_THAT(trend_answer(courses_of(runs_on({}), "")).remarks, ::testing::IsEmpty());
}

TEST(Trend, AChangeWithTheMachineIsTheMachines) {
  for (const int at : {19, 20, 21}) {
    const auto course = only_course({.case_shift = 0.1, .machine_shift = -0.08, .machine_at = at});
    ASSERT_EQ(course.changes.points.size(), 1U);
    EXPECT_EQ(cause_of(course, course.changes.points[0]), Cause::kMachine) << at;
    const auto answer = trend_answer({course});
    EXPECT_EQ(answer.findings.at(0).severity, "insight");
    EXPECT_THAT(answer.sentence, HasSubstr("the machine changed, not the code"));
  }
}

TEST(Trend, AMachineThatChangedOtherwiseIsNoCause) {
  const auto faster = only_course({.case_shift = 0.1, .machine_shift = 0.08});
  EXPECT_EQ(cause_of(faster, faster.changes.points.at(0)), Cause::kNotMachine);
  const auto later = only_course({.case_shift = 0.1, .machine_shift = -0.08, .machine_at = 25});
  EXPECT_EQ(cause_of(later, later.changes.points.at(0)), Cause::kNotMachine);
  const auto unknown = only_course({.case_shift = 0.1, .machine_known = false});
  EXPECT_EQ(unknown.control, "");
  EXPECT_EQ(cause_of(unknown, unknown.changes.points.at(0)), Cause::kUnknown);
}

TEST(Trend, AFigureInStepsOfTheClockTellsNothing) {
  auto runs = runs_on({.case_shift = 0.1, .machine_known = false});
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i].run.cases[0].figures.push_back({std::string(kControlWork), i % 2 == 0 ? 20.0 : 21.0, {}, {}});
  const auto courses = courses_of(runs, "");
  EXPECT_EQ(courses.at(0).control, "");
  EXPECT_EQ(cause_of(courses[0], courses[0].changes.points.at(0)), Cause::kUnknown);
}

TEST(Trend, WhatTheMachineIsRunWithIsNamedWhereItChanges) {
  auto runs = runs_on({.case_shift = 0.1});  // newest first
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].run.system["kernel"] = i < 20 ? "6.2" : "6.1";
  EXPECT_THAT(trend_answer(courses_of(runs, "")).sentence, HasSubstr("There, kernel 6.1 became 6.2."));
}

TEST(Trend, TwoSlowRunsAtTheEndAreWatched) {
  const auto course = only_course({.case_shift = 0.1}, 22);
  EXPECT_TRUE(course.changes.points.empty());
  ASSERT_TRUE(course.changes.watch);
  EXPECT_EQ(course.changes.watch->first, 20U);
  EXPECT_THAT(trend_answer({course}).sentence, HasSubstr("watch p50: the last 2 runs"));
}

TEST(Trend, MachinesAreNotMixed) {
  auto runs = runs_on({});
  for (std::size_t i = 0; i < runs.size(); i += 2) runs[i].run.machine = "another";
  const auto courses = courses_of(runs, "");
  ASSERT_EQ(courses.size(), 2U);
  EXPECT_EQ(courses[0].steps.size(), 20U);
  EXPECT_LT(courses[0].steps[0].started_utc, courses[0].steps[1].started_utc);
}

TEST(Trend, EveryFormShowsIt) {
  const auto answer = trend_answer({only_course({.case_shift = 0.1, .machine_shift = -0.08})});
  const auto page = answer::html_of(answer);
  EXPECT_EQ(std::ranges::count(answer.sections, true, &answer::Section::aside), 1);
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("measured peak of the machine"));
  for (const auto& text :
       {answer::terminal_of(answer, {}), answer::markdown_of(answer), answer::junit_of(answer)})
    EXPECT_THAT(text, HasSubstr("not the code"));
  const auto json = answer::json_of(answer);
  EXPECT_EQ(json["series"][0]["changes"][0]["machine_changed"], true);
  EXPECT_EQ(json["series"][0]["runs"].size(), 40U);
}

TEST(Trend, DirectionsFollowTheMetric) {
  EXPECT_EQ(is_worse("p50_ms", 0.1), true);
  EXPECT_EQ(is_worse("throughput_per_s", 0.1), false);
  EXPECT_EQ(is_worse("throughput_per_s", -0.1), true);
  EXPECT_EQ(is_worse("device_share", 0.1), std::nullopt);
}

}  // namespace
}  // namespace paceline::history
