// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/answer_parts.h"
#include "report/format_table.h"
#include "support/sample_runs.h"

namespace paceline::report {
namespace {

using ::paceline::testing::sample_run;

std::vector<std::string> lines_of(const TerminalOptions& options,
                                  const result::RunResult& run = sample_run()) {
  return split(terminal_table(run, options), '\n');
}

std::string line_with(const std::vector<std::string>& lines, const std::string& part) {
  for (const std::string& line : lines)
    if (line.find(part) != std::string::npos) return line;
  return {};
}

std::string note_with(const std::vector<std::string>& lines, const std::string& mark) {
  for (const std::string& line : lines)
    if (line.starts_with(mark)) return line;
  return {};
}

TEST(TerminalTable, RowsHoldTheNumbersInOrder) {
  const auto lines = lines_of({});
  EXPECT_EQ(lines[0],
            "case                                     p50 ms  p99 ms  images/s  vs baseline  memory  grade");
  EXPECT_EQ(lines[1],
            "resnet50 eager fp32 b1                54.1 ±1.1      –¹      18.5  1.00 (base)  312 MB  A");
  EXPECT_EQ(lines[2],
            "resnet50 torchscript fp32 b1          47.9 ±1.0      –¹      20.9   1.13 ±0.03  301 MB  A");
  EXPECT_NE(line_with(lines, "vit_b_16 torchscript").find("636 MB  B²"), std::string::npos);
  EXPECT_EQ(note_with(lines, "² "), "² foreign CPU 6 %");
  EXPECT_EQ(note_with(lines, "¹ "), "¹ no p99: needs 368 independent samples, had 216");
}

TEST(TerminalTable, CasesWithoutNumbersSayWhy) {
  const auto lines = lines_of({});
  EXPECT_NE(line_with(lines, "eager fp16 b1").find("skipped (unsupported): fp16 arithmetic needs"),
            std::string::npos);
  EXPECT_NE(
      line_with(lines, "vit_b_16 eager bf16 b1").find("failed (accuracy): centred cosine 0.41 is below 0.98"),
      std::string::npos);
}

TEST(TerminalTable, KeptAnswersAreAColumnIfAnswersDecided) {
  auto run = sample_run();
  EXPECT_EQ(lines_of({}, run)[0].find("top-1 kept"), std::string::npos);
  paceline::testing::judge_by_answers(run.cases[1], 1, 64);
  TerminalOptions wide;
  wide.width = 100;
  const auto lines = lines_of(wide, run);
  EXPECT_NE(lines[0].find("vs baseline  top-1 kept"), std::string::npos) << lines[0];
  EXPECT_NE(lines[2].find("98.4 %"), std::string::npos) << lines[2];
}

TEST(TerminalTable, MissingNumbersAreDashes) {
  auto run = sample_run();
  run.cases[0].memory = {};
  run.cases[0].throughput = {};
  const std::string line = line_with(lines_of({}, run), "resnet50 eager fp32 b1");
  EXPECT_EQ(line,
            "resnet50 eager fp32 b1                54.1 ±1.1      –¹         –  1.00 (base)       –  A");
}

TEST(TerminalTable, UnclaimedSpeedUpsAreReasonsAndNoNumbers) {
  auto run = sample_run();
  for (auto& one : run.cases)
    one.speedup.scope = "within_process", one.speedup.reason = "fewer than six pairs of processes";
  const auto lines = lines_of({}, run);
  EXPECT_EQ(line_with(lines, "resnet50 torchscript").find("1.13"), std::string::npos);
  EXPECT_NE(line_with(lines, "resnet50 torchscript").find("–²"), std::string::npos);
  EXPECT_EQ(note_with(lines, "² "), "² no claim: fewer than six pairs of processes");
}

TEST(TerminalTable, AnUnfinishedRunSaysSoAndHowToGoOn) {
  auto run = sample_run();
  run.outcome = result::kUnfinished;
  run.folder = "my runs/one";
  const auto text = terminal_answer(run, {});
  EXPECT_NE(text.find("This run is unfinished"), std::string::npos);
  EXPECT_NE(text.find("paceline run --resume 'my runs/one'"), std::string::npos) << text;
}

TEST(TerminalTable, TwoCasesEndWithOneSentence) {
  auto run = sample_run();
  run.cases.resize(2);
  const std::string answer =
      "\ntorchscript fp32 is 1.13 times as fast as eager fp32 (1.10–1.16); it passes the check of its\n"
      "outputs.\n";
  EXPECT_EQ(terminal_answer(run, {}), answer);
  const ReportRun only{run, {}};
  EXPECT_TRUE(render_text(std::span(&only, 1), {}).ends_with(answer));  // the last lines
}

class AtWidth : public ::testing::TestWithParam<std::size_t> {};

TEST_P(AtWidth, NoLineIsWider) {
  for (const bool ascii : {false, true})
    for (const std::string& line : lines_of({GetParam(), ascii, false})) {
      EXPECT_LE(display_width(line), std::min<std::size_t>(GetParam(), 120)) << line;
      EXPECT_TRUE(!ascii || line.size() == display_width(line)) << line;
    }
}

INSTANTIATE_TEST_SUITE_P(Widths, AtWidth, ::testing::Values(60, 80, 100, 200));

TEST(TerminalTable, NarrowTerminalsLoseColumnsFromTheRightAndKeepTheGrade) {
  EXPECT_NE(lines_of({100})[0].find("memory"), std::string::npos);
  const std::string head = lines_of({80})[0];
  EXPECT_EQ(head.find("memory"), std::string::npos);
  EXPECT_NE(head.find("images/s"), std::string::npos);
  EXPECT_NE(head.find("grade"), std::string::npos);
  EXPECT_EQ(lines_of({50})[0].find("grade"), std::string::npos);
  EXPECT_NE(lines_of({20})[0].find("case"), std::string::npos);
}

TEST(TerminalTable, ColoursOnlyWhenAsked) {
  EXPECT_EQ(terminal_table(sample_run(), {}).find('\x1b'), std::string::npos);
  EXPECT_NE(terminal_table(sample_run(), {100, false, true}).find("\x1b[31m"), std::string::npos);
}

TEST(TerminalTable, NamesCannotSteerTheTerminal) {
  auto run = sample_run();
  run.cases[0].label = "evil\x1b[2J";
  EXPECT_EQ(terminal_table(run, {}).find('\x1b'), std::string::npos);
}

TEST(TerminalTable, FindingsFollowNumbered) {
  const auto lines = lines_of({});
  EXPECT_NE(line_with(lines, "findings"), "");
  EXPECT_NE(line_with(lines, "  1  vit_b_16 eager bf16 b1 fails its accuracy check"), "");
  EXPECT_NE(line_with(lines, "  5  "), "");
  EXPECT_EQ(line_with(lines, "  6  "), "");
}

TEST(TerminalTable, StoredFindingsWinOverNewOnes) {
  auto run = sample_run();
  run.findings = {{"x", "insight", "As found then.", "", "", {}}};
  EXPECT_EQ(line_with(lines_of({}, run), "  1  "), "  1  As found then.");
}

TEST(TerminalTable, SeveralRunsHaveARunColumn) {
  const std::vector<ReportRun> runs{{sample_run(), {}}, {sample_run(), {}}};
  const auto lines = split(find_format("text").render(runs, {}), '\n');
  EXPECT_EQ(lines[0], "A  quickstart  20261121T014500Z-7f3a  2026-11-21T01:45:00Z");
  EXPECT_EQ(lines[4].substr(0, 39), "resnet50 eager fp32 b1                A");
  EXPECT_EQ(lines[5].substr(0, 39), "resnet50 eager fp32 b1                B");
}

}  // namespace
}  // namespace paceline::report
