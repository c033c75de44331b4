// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "report/format_table.h"
#include "report/subjects.h"
#include "support/sample_runs.h"

namespace paceline::report {
namespace {

result::CrossCheck check_of(double ratio, double low, double high, result::Speed verdict) {
  result::CrossCheck check;
  check.asked = true;
  check.tool = "benchmark_app";
  check.command = "benchmark_app -m <m>.onnx";
  check.ours_ns.assign(10, 10.7e6);
  check.theirs_ns.assign(10, 10.6e6);
  check.ours_p50_ns = 10.7e6;
  check.theirs_p50_ns = 10.6e6;
  check.ratio = {ratio, low, high, 0.95, "binomial_processes"};
  check.verdict = verdict;
  return check;
}

std::string text_of(const result::CrossCheck& check) {
  result::CaseResult one;
  one.cross_check = check;
  return kCrossCheck.of_case(alone(one)).at(0).paragraphs.at(0);
}

// Verdict behind the figures.
std::string verdict_of(const result::CrossCheck& check) {
  constexpr std::string_view kBefore = "pairs of processes: ";
  const auto text = text_of(check);
  return text.substr(text.find(kBefore) + kBefore.size());
}

TEST(CrossCheckText, FourVerdictsInWords) {
  EXPECT_EQ(verdict_of(check_of(1.004, 0.998, 1.011, result::Speed::kEquivalent)), "equal within 1.1 %");
  EXPECT_EQ(verdict_of(check_of(1.0, 0.97, 1.011, result::Speed::kEquivalent)), "equal within 3.0 %");
  EXPECT_EQ(verdict_of(check_of(1.062, 1.041, 1.083, result::Speed::kSlower)),
            "Paceline is slower by 6.2 % (4.1–8.3 %)");
  EXPECT_EQ(verdict_of(check_of(0.9, 0.88, 0.93, result::Speed::kFaster)),
            "Paceline is faster by 10 % (7.0–12 %)");
  EXPECT_EQ(verdict_of(check_of(1.02, 0.97, 1.09, result::Speed::kInconclusive)),
            "cannot say: the interval reaches from −3.0 % to +9.0 %; more pairs (--cross-check-rounds) or a "
            "quieter machine narrow it");
}

TEST(CrossCheckText, TheSentenceHasBothSides) {
  auto check = check_of(1.004, 0.998, 1.011, result::Speed::kEquivalent);
  EXPECT_EQ(
      text_of(check),
      "benchmark_app 10.6 ms, Paceline 10.7 ms, ratio 1.004 (0.998–1.011), 10 pairs of processes: equal "
      "within 1.1 %");
  check.notes = {"the tool runs version 2, this case 1"};
  EXPECT_TRUE(text_of(check).ends_with("1.1 %; the tool runs version 2, this case 1"));
}

TEST(CrossCheckText, TheRatioStandsBesideGradeC) {
  ReportRun run{testing::sample_run(), {}};
  run.result.cases[0].cross_check = check_of(1.22, 1.2, 1.25, result::Speed::kSlower);
  run.result.cases[0].grade = result::Grade::kC;
  for (const char* format : {"html", "markdown", "text"}) {
    auto text = find_format(format).render(std::span(&run, 1), {});
    for (auto at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at))
      text.replace(at, 3, " ");  // lines of a terminal are wrapped
    EXPECT_NE(text.find("slower by 22"), std::string::npos) << format;
    EXPECT_EQ(text.find("no claim: the case is of grade C"), std::string::npos) << format;
  }
}

TEST(CrossCheckText, AReasonStandsWhereTheRatioWould) {
  result::CrossCheck check;
  check.asked = true;
  check.reason = "benchmark_app failed: exit code 3";
  EXPECT_EQ(text_of(check), "no ratio: benchmark_app failed: exit code 3");
}

TEST(CrossCheckText, EveryReportHasItOnlyWhereItWasAsked) {
  ReportRun run{testing::sample_run(), {}};
  for (const char* format : {"html", "markdown", "text"})
    EXPECT_EQ(find_format(format).render(std::span(&run, 1), {}).find("benchmark_app"), std::string::npos);
  run.result.cases[0].cross_check = check_of(1.004, 0.998, 1.011, result::Speed::kEquivalent);
  run.result.cases[0].cross_check.log_tail = "last <line>";
  for (const char* format : {"html", "markdown", "text"}) {
    const auto text = find_format(format).render(std::span(&run, 1), {});
    EXPECT_NE(text.find("equal within 1.1 %"), std::string::npos) << format;
    EXPECT_NE(text.find("resnet50 eager fp32 b1"), std::string::npos) << format;
  }
  const auto page = find_format("html").render(std::span(&run, 1), {});
  EXPECT_NE(page.find("-m &lt;m&gt;.onnx"), std::string::npos);
  EXPECT_NE(page.find("last &lt;line&gt;"), std::string::npos);
}

}  // namespace
}  // namespace paceline::report
