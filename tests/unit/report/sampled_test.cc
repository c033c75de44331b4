// SPDX-License-Identifier: MIT
#include "result/stored/sampled.h"

#include <gtest/gtest.h>

#include "report/answer_parts.h"
#include "report/format_table.h"
#include "report/subjects.h"
#include "result/stored/device_state.h"
#include "support/sample_runs.h"

namespace paceline::report {
namespace {

result::Sampled meter() {
  result::SampledWindow window;
  window.sampler = "meter", window.readings = 2, window.window_s = 2, window.cpu_s = 0.005;
  window.series = {{"cuda:0", "power", "W", {0, 1}, {10, 40}, {}},
                   {"cuda:0", "throttled", "", {0, 1}, {}, {"none", "power <cap>"}}};
  return result::summarize_sampled({window}).at(0);
}

Section section_of(std::vector<result::Sampled> sampled) {
  result::CaseResult one;
  one.sampled = std::move(sampled);
  return kSampled.of_case(alone(one)).at(0);
}

TEST(SampledText, AMetricIsARowAndASamplerASentence) {
  const auto section = section_of({meter()});
  EXPECT_EQ(section.paragraphs,
            std::vector<std::string>{"meter: read 2 times in 1 window, 0.25 % of a core"});
  const auto text = terminal_of(section.table, {});
  EXPECT_NE(text.find("meter    cuda:0  power      W     25.0  10.0  40.0"), std::string::npos) << text;
  EXPECT_NE(text.find("none (1), power <cap> (1)"), std::string::npos) << text;
}

TEST(SampledText, ASamplerWithoutReadingsSaysWhy) {
  result::Sampled broken;
  broken.sampler = "meter", broken.windows = 2, broken.problems = {"no meter here"};
  const auto section = section_of({broken});
  EXPECT_EQ(section.paragraphs, std::vector<std::string>{"meter: no readings: no meter here"});
  EXPECT_TRUE(section.table.rows.empty());
}

TEST(SampledText, RanksAreNamedWhereOthersThanTheFirstSampled) {
  auto sampled = meter();
  sampled.metrics[1].rank = 4;
  const auto text = terminal_of(section_of({sampled}).table, {});
  EXPECT_NE(text.find("cuda:0, rank 0"), std::string::npos) << text;
  EXPECT_NE(text.find("cuda:0, rank 4"), std::string::npos) << text;
}

TEST(SampledText, ACaseWithoutSamplersHasNoSection) {
  EXPECT_TRUE(kSampled.of_case(alone(result::CaseResult())).empty());
}

TEST(SampledText, IsInEveryForm) {
  ReportRun run{testing::sample_run(), {}};
  run.result.cases[0].sampled = {meter()};
  for (const char* form : {"text", "markdown", "html"}) {
    const auto text = find_format(form).render(std::span(&run, 1), {});
    EXPECT_NE(text.find("throttled"), std::string::npos) << form;
    EXPECT_NE(text.find("0.25 % of a core"), std::string::npos) << form;
  }
}

// The line of a case has what its GPUs did; the table is for the page.
TEST(SampledText, ATerminalLeavesOutWhatTheLineOfACaseHas) {
  ReportRun run{testing::sample_run(), {}};
  auto& one = run.result.cases[0];
  one.sampled = {meter()};
  one.sampled[0].sampler = result::kDeviceSampler;
  const auto has_table = [&](const char* form) {
    return find_format(form).render(std::span(&run, 1), {}).find("throttled") != std::string::npos;
  };
  EXPECT_TRUE(has_table("text"));
  one.devices.emplace_back().device = "cuda:0";
  EXPECT_FALSE(has_table("text"));
  EXPECT_TRUE(has_table("html"));
}

}  // namespace
}  // namespace paceline::report
