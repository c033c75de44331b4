// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/answer_parts.h"
#include "report/chart/plots.h"
#include "report/format_table.h"
#include "report/html_parts.h"
#include "report/subjects.h"
#include "support/sample_runs.h"
#include "support/training_run.h"
#include "support/words.h"

namespace paceline::report {
namespace {

using result::StepPart;
using test::expect_words;

std::string terminal_of(const result::RunResult& run) {
  const ReportRun only{run, {}};
  std::string out;
  for (const auto& section : kTraining.of_runs(std::span(&only, 1), Form::kTerminal))
    out += terminal_of(section.table, {98}) + join(section.notes, "\n");
  return out;
}

std::string page_of(const ReportRun& run) {
  return html_of(kTraining.of_runs(std::span(&run, 1), Form::kPage));
}

TEST(TrainingText, TheTerminalShowsScalingAndParts) {
  const auto text = terminal_table(testing::training_run(), {});
  expect_words(text, {"efficiency"});
  expect_words(text, {"resnet50 train fp32 b8 r2"});
  expect_words(text, {"0.960 ±0"});
  expect_words(text, {"do not speak for GPUs"});
  for (const auto& line : split(text, '\n')) EXPECT_LE(display_width(line), 100U) << line;
  EXPECT_EQ(terminal_of(testing::sample_run()), "");
}

// Within one process each there is no efficiency to print, in no format.
TEST(TrainingText, UnclaimedScalingHasNoNumber) {
  auto run = testing::training_run();
  for (auto& one : run.cases)
    if (one.scaling)
      one.scaling->ci_low = one.scaling->ci_high = Number::missing("fewer than six pairs of processes");
  const auto terminal = terminal_of(run);
  EXPECT_EQ(terminal.find("0.96"), std::string::npos) << terminal;
  expect_words(terminal, {"no claim"});
  expect_words(terminal, {"what more ranks gain is not claimed: fewer than six pairs of processes"});
  const ReportRun trained{run, {}};
  const auto page = page_of(trained);
  expect_words(page, {"r4: what it gains over 1 rank is not claimed: fewer than six pairs of processes."});
  EXPECT_EQ(page.find("times the throughput of"), std::string::npos);
  EXPECT_TRUE(efficiency_plots(side_by_side(std::span(&trained, 1))).empty());
}

TEST(TrainingText, AnAsymmetricEfficiencyHasBothEnds) {
  auto run = testing::training_run();
  run.cases[2].scaling->ci_low = 0.6;
  run.cases[2].scaling->ci_high = 0.97;
  expect_words(terminal_of(run), {"(0.600–0.970)"});
}

TEST(TrainingText, EveryReportHasItOnlyWhereSomethingTrained) {
  const ReportRun plain{testing::sample_run(), {}}, trained{testing::training_run(), {}};
  for (const char* format : {"html", "markdown", "text"}) {
    const auto render = find_format(format).render;
    EXPECT_EQ(render(std::span(&plain, 1), {}).find("speak for GPUs"), std::string::npos) << format;
    expect_words(render(std::span(&trained, 1), {}), {"speak for GPUs"});
  }
}

TEST(TrainingText, ThePageHasRanksEpochsBucketsAndCharts) {
  const ReportRun trained{testing::training_run(), {}};
  const auto page = find_format("html").render(std::span(&trained, 1), {});
  for (const char* words :
       {"<section id=\"training\">", "data-chart=\"scaling_curve\"", "data-chart=\"step_parts\"",
        "<h4>Ranks</h4>", "<h4>Epochs</h4>", "Buckets of gradients", "without buckets there would be 161",
        "rank 3 is late with certainty", "The loaders could deliver", "those of the last repetition"})
    expect_words(page, {words});
}

TEST(TrainingText, EveryTableHasAsManyHeadsAsCells) {
  auto run = testing::training_run();
  for (auto& rank : run.cases[1].training()->ranks)
    rank.evidence.cpu_ns = 5e6, rank.evidence.steal_frac = 0.1;
  int evidence = 0;
  for (const auto& one : run.cases)
    for (const auto& section : kTraining.of_case(alone(one))) {
      for (const auto& row : section.table.rows)
        EXPECT_EQ(row.cells.size(), section.table.heads.size()) << section.title;
      evidence += section.title == "What disturbed the ranks, per step" && !section.table.rows.empty();
    }
  EXPECT_EQ(evidence, 1);
}

// Ranks, epochs and buckets stand in the page.
TEST(TrainingText, TheLossIsDrawnOverEpochs) {
  ReportRun trained{testing::training_run(), {}};
  expect_words(page_of(trained), {"data-chart=\"loss\""});
  expect_words(page_of(trained), {"resnet50 train fp32 b8 r1: 6.53 to 5.53 in 2 epochs"});
  const auto points = [&] {
    return loss_plots(side_by_side(std::span(&trained, 1))).at(0).lines.at(0).points;
  };
  ASSERT_EQ(points().size(), 2U);
  EXPECT_EQ(points().at(1).x, 2);
  EXPECT_EQ(page_of(trained).find("held-out"), std::string::npos);
  auto& last = trained.result.cases[0].training()->epochs.back();
  last.eval_samples = 40, last.eval_loss = 2.5, last.eval_accuracy = 0.25;
  expect_words(page_of(trained), {"in 2 epochs (held-out data: loss 2.50, 25.0 % right)"});
  expect_words(html_of(kTraining.of_case(alone(trained.result.cases[0]))), {"held-out accuracy"});
  expect_words(points().at(1).hint, {"held-out data: loss 2.50, 25.0 % right"});
  EXPECT_EQ(points().at(0).hint.find("held-out"), std::string::npos);
  for (auto& one : trained.result.cases) one.training()->epochs.resize(1);  // one point is no course
  EXPECT_EQ(page_of(trained).find("data-chart=\"loss\""), std::string::npos);
}

TEST(TrainingText, MarkdownHasScalingAndParts) {
  const ReportRun trained{testing::training_run(), {}};
  const auto text = find_format("markdown").render(std::span(&trained, 1), {});
  expect_words(text, {"## Training"});
  expect_words(text, {"| share of a step |"});
  EXPECT_EQ(text.find("| rank |"), std::string::npos);
}

TEST(TrainingText, SharedParametersAreOnceAboveEachTable) {
  const ReportRun trained{testing::training_run(), {}};
  const auto markdown = find_format("markdown").render(std::span(&trained, 1), {});
  expect_words(markdown, {"resnet50 · train · fp32 · b8\n\n| share of a step |", "\n| r4 |"});
  const auto page = page_of(trained);
  expect_words(page, {"<p>resnet50 · train · fp32 · b8</p>"});
  for (const char* cell : {">resnet50 train fp32 b8 r4</td>", ">resnet50 train fp32 b8 r4</th>",
                           "| resnet50 train fp32 b8 r4 |"})
    EXPECT_EQ((page + markdown).find(cell), std::string::npos) << cell;
}

TEST(TrainingText, PartsInTheChartAddUpToTheMeanStep) {
  auto run = testing::training_run({{.ranks = 1}});
  auto& t = *run.cases[0].training();
  t.parts.ns[StepPart::kForward] = *t.parts.step_ns;  // a median that does not fit beside the others
  const double forward_ms = *t.shares[StepPart::kForward] * *run.cases[0].stats.mean_ns * 1e-6;
  t.shares[StepPart::kForward] = 0.0;  // the host does something else in that time
  const ReportRun trained{run, {}};
  const auto plot = part_plots(side_by_side(std::span(&trained, 1))).at(0);
  EXPECT_NEAR(plot.rectangles.back().x_to, *run.cases[0].stats.mean_ns * 1e-6, 0.01);
  EXPECT_EQ(plot.legend.back().name, "other");
  EXPECT_NEAR(plot.rectangles.back().x_to - plot.rectangles.back().x_from, forward_ms, 0.01);
}

TEST(TrainingText, ReportsRestartsAndCheckpoints) {
  auto run = testing::training_run({{.ranks = 2, .ddp = true}});
  auto& t = *run.cases[0].training();
  t.restarts = {{"rank 1 was killed", 0.4e9, 12e9, 7, 2, 2}};
  t.checkpoints.written = 3;
  t.checkpoints.bytes = 204'000'000;
  t.checkpoints.write_ns = 0.8e9;
  const auto html = html_of(kTraining.of_case(alone(run.cases[0])));
  expect_words(html, {"<td>rank 1 was killed</td>"});
  expect_words(html, {"2 → 2"});
  expect_words(html, {"3 checkpoints written, 204 MB each, on the disk after 800 ms"});
}

}  // namespace
}  // namespace paceline::report
