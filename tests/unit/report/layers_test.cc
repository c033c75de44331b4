// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/answer_parts.h"
#include "report/format_table.h"
#include "report/subjects.h"
#include "support/sample_runs.h"

namespace paceline::report {
namespace {

ReportRun run_with_layers() {
  ReportRun run{testing::sample_run(), {}};
  auto& one = run.result.cases[0];
  std::vector<result::LayerRow> rows{
      {"fused <conv>", "FusedConv", "fp32", "layer1.0.conv1", 4e7, {}},
      {"view", "Reshape", "", "", Number::missing("no time"), {}},
      {"a_very_long_name_of_a_layer_that_no_terminal_has_room_for", "Add", "fp32", "", 1.41e7, {}}};
  one.layer_profile = result::summarize_layers(rows, one.headline.p50_ns.value);
  one.layer_profile.source = "its profiler";
  one.layer_profile.statistic = "median";
  one.layer_profile.inferences = 20;
  return run;
}

std::string sum_text(const result::CaseResult& one) {
  return kLayers.of_case(alone(one)).at(0).paragraphs.at(0);
}

TEST(LayerText, TheSumIsComparedWithTheMeasuredLatency) {
  const auto run = run_with_layers();
  EXPECT_EQ(
      sum_text(run.result.cases[0]),
      "3 layers, together 54.1 ms, 100 % of the measured 54.1 ms (medians of 20 inferences; its profiler)");
  EXPECT_TRUE(kLayers.of_case(alone(run.result.cases[1])).empty());
  result::CaseResult failed;
  failed.layer_profile.asked = true;
  failed.layer_profile.reason = "this engine cannot time its layers";
  EXPECT_EQ(sum_text(failed), "no times of layers: this engine cannot time its layers");
}

TEST(LayerText, TheTerminalsTableKeepsItsWidth) {
  const auto text = terminal_table(run_with_layers().result, {});
  EXPECT_NE(text.find("layers of resnet50 eager fp32 b1"), std::string::npos);
  EXPECT_NE(text.find("layer1.0.conv1"), std::string::npos);
  EXPECT_NE(text.find("73.9 %"), std::string::npos) << text;
  for (const auto& line : split(text, '\n')) EXPECT_LE(display_width(line), 100U) << line;
  EXPECT_EQ(terminal_table(testing::sample_run(), {}).find("layers of"), std::string::npos);
}

TEST(LayerText, EveryReportHasItOnlyWhereItWasAsked) {
  const ReportRun plain{testing::sample_run(), {}}, profiled = run_with_layers();
  for (const char* format : {"html", "markdown", "text"}) {
    EXPECT_EQ(find_format(format).render(std::span(&plain, 1), {}).find("layers.csv"), std::string::npos);
    const auto text = find_format(format).render(std::span(&profiled, 1), {});
    EXPECT_NE(text.find("FusedConv"), std::string::npos) << format;
    EXPECT_NE(text.find("layers.csv"), std::string::npos) << format;
  }
  EXPECT_NE(find_format("html").render(std::span(&profiled, 1), {}).find("fused &lt;conv&gt;"),
            std::string::npos);
}

}  // namespace
}  // namespace paceline::report
