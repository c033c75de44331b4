// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/answer_parts.h"
#include "report/format_table.h"
#include "report/subjects.h"
#include "support/training_run.h"
#include "support/words.h"

namespace paceline::report {
namespace {

using test::expect_words;

// The first case, two profiled steps of 120 ms.
result::RunResult run_with_operators() {
  auto run = testing::training_run({{.ranks = 1}});
  result::ProfiledSteps steps;
  const auto missing = Number::missing("no sum yet");
  steps.source = "PyTorch's profiler (Kineto)";
  steps.untimed_steps = 3;
  steps.step_ns = {120e6, 120e6};
  steps.parts = {{"forward", 2, 1e6, 80e6, missing}, {"backward", 2, 1e6, 160e6, missing}};
  steps.operators = {{"aten::mkldnn_convolution", 106, 120e6, 121e6, missing},
                     {"gloo:all_reduce", 4, Number::missing("beside"), 50e6, missing}};
  for (int i = 0; i < 18; ++i)
    steps.operators.push_back(
        {"autograd::engine::evaluate_function: <Backward" + std::to_string(i) + ">", 2, 1e6, 1e6, missing});
  steps.outside_ns = 102e6;
  auto profile = result::summarize_operators(steps, run.cases[0].headline.p50_ns.value);
  profile.trace = "trace_rank0.json";
  profile.trace_bytes = 1'500'000;
  profile.table = "operators.csv";
  run.cases[0].operator_profile = profile;
  return run;
}

TEST(OperatorText, SaysWhatWasProfiledAndHowMuchSlowerItWas) {
  const auto run = run_with_operators();
  const auto text = kOperators.of_case(alone(run.cases[0])).at(0).paragraphs.at(0);
  expect_words(
      text,
      {"2 steps of rank 0 under PyTorch's profiler (Kineto), after 3 others: the median step took 120 ms, "});
  expect_words(text, {" times the timed "});
  expect_words(text, {"Its parts, on average: forward 40.0 ms, backward 80.0 ms."});
  expect_words(text, {"trace_rank0.json (1.50 MB) opens in ui.perfetto.dev."});
}

// Self times are the device's and total times the host's: one name for each clock.
TEST(OperatorText, OnADeviceTheColumnsNameTheirClocks) {
  auto run = run_with_operators();
  const auto on_host = terminal_table(run, {});
  expect_words(on_host, {"self ms"});
  expect_words(on_host, {"total ms"});
  run.cases[0].operator_profile->on_device = true;
  const auto text = terminal_table(run, {});
  expect_words(text, {"device ms"});
  expect_words(text, {"host total ms"});
  EXPECT_EQ(text.find("self ms"), std::string::npos);
  expect_words(kOperators.of_case(alone(run.cases[0])).at(0).paragraphs.at(0),
               {"Its parts on the host, which hands them over, on average: forward 40.0 ms"});
}

TEST(OperatorText, NoProfileIsExplained) {
  result::CaseResult one;
  one.operator_profile.emplace().reason = "rank 1 was killed";
  EXPECT_EQ(html_of(kOperators.of_case(alone(one))),
            "<h4>Profile of a step</h4>\n<p>no profile: rank 1 was killed</p>\n");
}

TEST(OperatorText, TheTableHasAllOfAStep) {
  const auto text = terminal_table(run_with_operators(), {});
  expect_words(text, {"aten::mkldnn_convolution"});
  expect_words(text, {"50.0 %"});
  expect_words(text, {"(5 others)"});
  expect_words(text, {"(in no operator)"});
  expect_words(text, {"operators.csv"});
  for (const auto& line : split(text, '\n')) EXPECT_LE(display_width(line), 100U) << line;
  EXPECT_EQ(terminal_table(testing::training_run(), {}).find("profile of"), std::string::npos);
}

TEST(OperatorText, EveryReportHasItOnlyWhereItWasAsked) {
  const ReportRun plain{testing::training_run(), {}}, profiled{run_with_operators(), {}};
  for (const char* format : {"html", "markdown", "text"}) {
    const auto render = find_format(format).render;
    EXPECT_EQ(render(std::span(&plain, 1), {}).find("operators.csv"), std::string::npos) << format;
    const auto text = render(std::span(&profiled, 1), {});
    expect_words(text, {"convolution"});
    expect_words(text, {"operators.csv"});
  }
  expect_words(find_format("html").render(std::span(&profiled, 1), {}), {"&lt;Backward0&gt;"});
}

}  // namespace
}  // namespace paceline::report
