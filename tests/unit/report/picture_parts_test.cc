// SPDX-License-Identifier: MIT
#include "result/figures/picture_parts.h"

#include <gtest/gtest.h>

#include "report/answer_parts.h"
#include "report/format_table.h"
#include "report/subjects.h"
#include "result/metric_table.h"
#include "support/sample_runs.h"

namespace paceline::report {
namespace {

ReportRun run_on_pictures() {
  ReportRun run{testing::sample_run(), {}};
  result::PictureTimes times;
  for (int i = 0; i < 40; ++i) {
    times.decode_ns.push_back(4e6 + 1e4 * (i * 17 % 40));
    times.resize_ns.push_back(2e6 + 1e4 * (i * 17 % 40));
    times.normalise_ns.push_back(1e6);
  }
  run.result.cases[0].picture_parts = result::picture_parts(times, 0.95);
  return run;
}

TEST(PictureParts, HaveMediansWithIntervalsFromEnoughPictures) {
  const auto parts = run_on_pictures().result.cases[0].picture_parts;
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].name, "decode");
  EXPECT_EQ(parts[0].n, 40);
  EXPECT_DOUBLE_EQ(*parts[0].p50_ns.value, 4.195e6);
  EXPECT_LT(*parts[0].p50_ns.ci_low, 4.195e6);
  EXPECT_GT(*parts[0].p50_ns.ci_high, 4.195e6);
}

TEST(PictureParts, TwoPicturesHaveAMedianWithoutAnInterval) {
  const auto parts = result::picture_parts({{1e6, 3e6}, {1e6, 1e6}, {2e6, 2e6}}, 0.95);
  EXPECT_DOUBLE_EQ(*parts[0].p50_ns.value, 2e6);
  EXPECT_FALSE(parts[0].p50_ns.ci_low);
  EXPECT_FALSE(parts[0].p50_ns.ci_low.reason().empty());
  EXPECT_TRUE(result::picture_parts({}, 0.95).empty());
}

TEST(PictureParts, AreMetrics) {
  const auto run = run_on_pictures();
  EXPECT_DOUBLE_EQ(*result::find_metric("decode_ms")->get(run.result.cases[0]).value, 4.195);
  EXPECT_DOUBLE_EQ(*result::find_metric("normalise_ms")->get(run.result.cases[0]).value, 1);
  EXPECT_NE(result::find_metric("resize_ms")->get(run.result.cases[1]).reason.find("image_dir"),
            std::string::npos);
}

TEST(PicturePartsText, ATextHasTheMediansAndSaysThatNoLatencyHasThem) {
  const auto run = run_on_pictures();
  const auto sections = kPictureParts.of_runs(std::span(&run, 1), Form::kTerminal);
  ASSERT_EQ(sections.size(), 1U);
  const auto text = terminal_of(sections[0].table, {});
  EXPECT_NE(text.find("decode"), std::string::npos) << text;
  EXPECT_NE(text.find("4.1"), std::string::npos) << text;
  EXPECT_NE(sections[0].notes.at(0).find("not part of the latency"), std::string::npos);
  EXPECT_TRUE(kPictureParts.of_runs(std::span(&run, 1), Form::kPage).empty());
}

TEST(PicturePartsText, IsInEveryForm) {
  const ReportRun run = run_on_pictures();
  const ReportRun other{testing::sample_run(), {}};
  for (const auto& [form, words] :
       {std::pair{"text", "normalise"}, {"markdown", "normalise"}, {"html", "Preparing a picture"}}) {
    const auto& render = find_format(form).render;
    EXPECT_NE(render(std::span(&run, 1), {}).find(words), std::string::npos) << form;
    EXPECT_EQ(render(std::span(&other, 1), {}).find("not part of the latency"), std::string::npos) << form;
  }
}

}  // namespace
}  // namespace paceline::report
