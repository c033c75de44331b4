// SPDX-License-Identifier: MIT
#include "report/chart/plots.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "report/answer_parts.h"
#include "report/chart/plot_parts.h"
#include "report/chart_files.h"
#include "report/roofline.h"
#include "report/subjects.h"
#include "result/stored/device_state.h"
#include "support/sample_runs.h"
#include "support/training_run.h"
#include "support/words.h"

namespace paceline::report {
namespace {

using test::count;
using test::expect_words;
using testing::WorldSpec;

std::vector<ReportRun> sampled(int per_repetition = 60) {
  ReportRun run{testing::sample_run()};
  run.samples = testing::sample_times(run.result, per_repetition);
  return {run};
}

std::vector<ReportRun> trained(const std::vector<WorldSpec>& worlds) {
  ReportRun run{testing::training_run(worlds)};
  for (std::size_t at = 0; at < worlds.size(); ++at)
    run.steps[run.result.cases[at].case_id] = step_view(testing::training_tables(worlds[at]));
  return {run};
}

const std::vector<WorldSpec> kWorlds{{.ranks = 1},
                                     {.ranks = 2, .ddp = true, .exposed_ms = 4},
                                     {.ranks = 4, .ddp = true, .exposed_ms = 6, .late = 1.08}};

TEST(Plots, CasesHaveTheirIntervalsInShownUnits) {
  const auto runs = sampled();
  const auto latency = latency_plots(runs);
  ASSERT_FALSE(latency.empty());
  const auto& first = latency[0].lines.at(0).points.at(0);
  EXPECT_DOUBLE_EQ(first.y, 54.1);
  EXPECT_DOUBLE_EQ(first.y_low, 53.018);
  EXPECT_EQ(throughput_plots(runs)[0].y.title, "throughput, images/s");
  EXPECT_DOUBLE_EQ(memory_plots(runs)[0].rectangles.at(0).x_to, 312);
  const auto speedups = speedup_plots(runs);
  EXPECT_EQ(speedups[0].y.categories.size(), speedups[0].lines[1].points.size());
  EXPECT_FALSE(speedups[0].lines[1].points[0].hollow) << "it is claimed";
}

TEST(Plots, ALongIntervalIsCutOffWithAnArrow) {
  auto runs = sampled();
  runs[0].result.cases.resize(2);  // of one batch
  auto& p50 = runs[0].result.cases[0].headline.p50_ns;
  p50.ci_high = 100 * *p50.value;
  double longest = 0;
  const auto plot = latency_plots(runs)[0];
  for (const auto& point : plot.lines[0].points) longest = std::max(longest, point.x);
  const auto cut = std::ranges::find(plot.lines[0].points, true, &Point::goes_on);
  ASSERT_NE(cut, plot.lines[0].points.end());
  EXPECT_DOUBLE_EQ(cut->x_high, 1.5 * longest);
  EXPECT_EQ(std::ranges::count(plot.lines[0].points, true, &Point::goes_on), 1);
}

TEST(Plots, LinesAreNamedByWhatTellsThemApart) {
  auto runs = sampled();
  auto& cases = runs[0].result.cases;
  const auto names = [&] { return series_of(side_by_side(runs)); };
  const auto before = names();
  for (auto& one : cases) one.benchmark.params["weights_seed"] = "5";
  cases[0].benchmark.params["max_batch"] = "4";
  cases[0].benchmark.params["env.OMP_PROC_BIND"] = "true";
  EXPECT_EQ(names().at(0), "eager fp32 OMP_PROC_BIND=true max batch 4");
  EXPECT_EQ(names().at(1), before.at(1));
  cases[0].benchmark.params["weights_seed"] = "6";
  EXPECT_EQ(names().at(0), "eager fp32 OMP_PROC_BIND=true max batch 4 weights seed 6");
}

TEST(Plots, UnmeasuredFiguresHaveNoPlot) {
  auto runs = sampled();
  for (auto& one : runs[0].result.cases) one.memory = {}, one.flops = {};
  EXPECT_TRUE(memory_plots(runs).empty());
  EXPECT_TRUE(peak_plots(runs).empty());
  EXPECT_TRUE(stage_plots(runs).empty());
  EXPECT_TRUE(request_plots(runs).empty());
  EXPECT_TRUE(latency_plots({}).empty());
}

TEST(Plots, LongCoursesAreThinnedButKeepTheirExtremes) {
  const auto runs = sampled(5000);
  const auto plots = sample_plots(side_by_side(runs).at(0), 2000);
  ASSERT_EQ(plots.size(), 2U);
  std::vector<double> drawn;
  for (const auto& line : {plots[1].lines[0], plots[1].lines[1]})
    for (const Point& p : line.points) drawn.push_back(p.y);
  EXPECT_LE(drawn.size(), 2000U);
  const auto& all = runs[0].samples.at("resnet50-eager-fp32-b1");
  const auto [low, high] = std::ranges::minmax_element(all, {}, &result::Sample::host_ns);
  EXPECT_NEAR(std::ranges::min(drawn), static_cast<double>(low->host_ns) * 1e-6, 1e-9);
  EXPECT_NEAR(std::ranges::max(drawn), static_cast<double>(high->host_ns) * 1e-6, 1e-9);
  double counted = 0;
  for (const auto& r : plots[0].rectangles) counted += r.y_to;
  EXPECT_LE(counted, 30000);
  EXPECT_LT(svg_of(plots[1]).size(), 60'000U);
}

TEST(Plots, TheScalingCurveHasWhatWasMeasuredAndPredicted) {
  const auto runs = trained(kWorlds);
  const auto plot = scaling_plots(side_by_side(runs)).at(0);
  const auto named = [&](const std::string& name) {
    return std::ranges::find(plot.lines, name, &Line::name);
  };
  const auto line = named("resnet50 train fp32 b8");
  ASSERT_NE(line, plot.lines.end());
  ASSERT_EQ(line->points.size(), 3U);
  EXPECT_EQ(line->points[2].x, 4);
  EXPECT_FALSE(std::isnan(line->points[2].y_low));
  ASSERT_NE(named("ideal"), plot.lines.end());
  const auto ideal = named("ideal")->points;
  EXPECT_NEAR(ideal.back().y / ideal.front().y, ideal.back().x / ideal.front().x, 1e-9);
  const auto efficiency = efficiency_plots(side_by_side(runs)).at(0);
  EXPECT_NEAR(std::ranges::find(efficiency.lines, line->name, &Line::name)->points[1].y,
              *runs[0].result.cases[1].scaling->efficiency, 1e-12);
}

// Beyond four times the largest world the model claims nothing: no band there.
TEST(Plots, PredictionsHaveABandAndTheModelAloneHasNone) {
  const std::vector<WorldSpec> worlds{
      {.ranks = 1}, {.ranks = 2, .ddp = true, .exposed_ms = 4}, {.ranks = 4, .ddp = true, .exposed_ms = 4}};
  const auto runs = trained(worlds);
  const auto plot = scaling_plots(side_by_side(runs)).at(0);
  const auto claimed = std::ranges::find(plot.lines, "predicted, with its range", &Line::name);
  const auto model = std::ranges::find(plot.lines, "model only, no claim", &Line::name);
  ASSERT_NE(claimed, plot.lines.end());
  ASSERT_NE(model, plot.lines.end());
  EXPECT_TRUE(claimed->band);
  EXPECT_EQ(claimed->points.back().x, 16);
  EXPECT_LT(claimed->points.back().y_low, claimed->points.back().y);
  EXPECT_EQ(model->points.back().x, 32);
  EXPECT_TRUE(std::isnan(model->points.back().y_low));
  EXPECT_EQ(model->stroke, Line::Stroke::kDashed);
}

TEST(Plots, NothingIsClaimedOfWhatDoubtfulCasesPredict) {
  auto runs = trained(
      {{.ranks = 1}, {.ranks = 2, .ddp = true, .exposed_ms = 4}, {.ranks = 4, .ddp = true, .exposed_ms = 4}});
  auto& scaling = *runs[0].result.cases[2].scaling;
  scaling.ci_low = scaling.ci_high = Number::missing("fewer than six pairs of processes");
  const auto plot = scaling_plots(side_by_side(runs)).at(0);
  EXPECT_EQ(std::ranges::find(plot.lines, "predicted, with its range", &Line::name), plot.lines.end());
  const auto model = std::ranges::find(plot.lines, "model only, no claim", &Line::name);
  ASSERT_NE(model, plot.lines.end());
  EXPECT_EQ(model->points.back().x, 32);
}

TEST(Plots, TheBudgetLeadsFromTheIdealStepToTheMeasuredOne) {
  const auto runs = trained(kWorlds);
  const auto plots = budget_plots(side_by_side(runs));
  ASSERT_EQ(plots.size(), 2U);
  const auto& bars = plots[1].rectangles;
  EXPECT_EQ(plots[1].y.categories.front(), "ideal, from 1 rank");
  EXPECT_EQ(plots[1].y.categories.back(), "4 ranks");
  for (std::size_t at = 1; at + 1 < bars.size(); ++at) EXPECT_NEAR(bars[at].x_from, bars[at - 1].x_to, 1e-9);
  EXPECT_NEAR(bars[bars.size() - 2].x_to, bars.back().x_to, 1e-6);
}

TEST(Plots, ATimelineAddsUpToTheStepOfEachRank) {
  const auto runs = trained(kWorlds);
  const auto entry = side_by_side(runs).at(2);
  const auto plots = timeline_plots(entry);
  ASSERT_EQ(plots.size(), 2U);
  EXPECT_EQ(plots[0].y.categories, (std::vector<std::string>{"rank 0", "rank 1", "rank 2", "rank 3"}));
  const StepView& view = runs[0].steps.at(entry.one->case_id);
  double longest = 0;
  for (const auto& r : plots[1].rectangles) longest = std::max(longest, r.x_to);
  EXPECT_NEAR(longest, view.worst_ns * 1e-6, 1e-6);
  EXPECT_GE(view.worst_ns, view.typical_ns);
  expect_words(svg_of(plots[0]), {"rank 0: waits for late ranks"});
  EXPECT_TRUE(timeline_plots(side_by_side(runs).at(0)).empty()) << "one rank waits for nobody";
  EXPECT_TRUE(timeline_plots(alone(*entry.one)).empty());
}

TEST(Plots, TheLateRankIsTheDarkRow) {
  const auto runs = trained(kWorlds);
  const auto plot = straggler_plots(side_by_side(runs).at(2)).at(0);
  for (const auto& r : plot.rectangles) EXPECT_TRUE(r.colour != "h8" || r.y_from == 2.5) << "rank 3 is late";
  EXPECT_TRUE(std::ranges::any_of(plot.rectangles, [](const auto& r) { return r.colour == "h8"; }));
  expect_words(svg_of(plot), {"rank 3: most "});
}

// 1,024 ranks and 1,000 steps are pictures of the same size as few.
TEST(Plots, ManyRanksAndStepsStaySmall) {
  std::vector<result::RankSteps> tables;
  for (std::int64_t rank = 0; rank < 1024; ++rank) {
    tables.emplace_back().rank.rank = rank;
    for (std::int64_t step = 0; step < 1000; ++step) {
      result::StepRow row;
      row.step = step;
      row.ns[result::StepPart::kForward] =
          100'000'000 + (rank * 7919 + step * 104729) % 9973 * 1000 + (rank == 700 ? 50'000'000 : 0);
      row.ns[result::StepPart::kExposed] = 160'000'000 - row.ns[result::StepPart::kForward];
      row.step_ns = 160'000'000;
      row.start_ns = step * 160'000'000;
      tables.back().rows.push_back(std::move(row));
    }
  }
  ReportRun run{testing::training_run({{.ranks = 2, .ddp = true}})};
  run.steps[run.result.cases[0].case_id] = step_view(tables);
  tables.clear();
  const auto entry = side_by_side(std::span(&run, 1)).at(0);
  EXPECT_LT(svg_of(straggler_plots(entry).at(0)).size(), 300'000U);
  for (const Plot& plot : timeline_plots(entry)) EXPECT_LT(svg_of(plot).size(), 60'000U);
  const auto times = svg_of(rank_time_plots(entry).at(0));
  EXPECT_LT(times.size(), 20'000U);
  expect_words(times, {"rank 700: median 15"});
  expect_words(timeline_plots(entry).at(0).x.title, {"the 32 ranks of 1024 that take longest"});
}

TEST(Plots, StepsThatDoNotFitAreRefused) {
  auto tables = testing::training_tables({.ranks = 2, .ddp = true});
  tables[1].rows.pop_back();
  EXPECT_THROW(step_view(tables), Error);
  EXPECT_TRUE(step_view({}).empty());
}

// A window of the sampler nvml; its first and last readings are at the ends, where nothing runs.
result::SampledWindow watched(std::int64_t repetition, const std::vector<double>& clock,
                              const std::vector<double>& power, std::vector<std::string> slowdown) {
  result::SampledWindow window;
  window.sampler = result::kDeviceSampler, window.repetition = repetition;
  std::vector<double> times;
  for (std::size_t i = 0; i < clock.size(); ++i) times.push_back(0.1 * static_cast<double>(i));
  window.series = {{"cuda:0", "sm_clock", "MHz", times, clock, {}},
                   {"cuda:0", "power", "W", times, power, {}},
                   {"cuda:0", "slowdown", "", times, {}, std::move(slowdown)}};
  return window;
}

std::vector<ReportRun> watched_run() {
  auto runs = sampled();
  auto& one = runs[0].result.cases[0];
  one.devices.emplace_back().device = "cuda:0";
  runs[0].result.environment["nvidia"]["gpus"] = {{{"power_limit_w", 700}}};
  runs[0].sampled[one.case_id] = {
      watched(0, {345, 1980, 1755, 1980, 345}, {80, 600, 698, 640, 80},
              {"none", "none", "power cap", "none", "none"}),
      watched(1, {345, 1965, 1950, 345}, {80, 610, 611, 80}, {"none", "none", "none", "none"})};
  return runs;
}

TEST(Plots, ADeviceHasItsClockAndPowerOverItsWindows) {
  const auto runs = watched_run();
  const auto plots = device_plots(side_by_side(runs).at(0));
  ASSERT_EQ(plots.size(), 2U);
  const auto& clock = plots[0].lines.at(0);
  std::vector<double> drawn;
  for (const Point& p : clock.points)
    if (!std::isnan(p.y)) drawn.push_back(p.y);
  EXPECT_EQ(drawn, (std::vector<double>{1980, 1755, 1980, 1965, 1950}));
  EXPECT_NEAR(clock.points.back().x, 0.6, 1e-9) << "the second window follows the first";
  EXPECT_TRUE(std::isnan(clock.points.at(3).x)) << "nothing is drawn between windows";
  ASSERT_EQ(plots[0].rectangles.size(), 1U);
  EXPECT_NEAR(plots[0].rectangles[0].x_from, 0.2, 1e-9);
  EXPECT_NEAR(plots[0].rectangles[0].x_to, 0.3, 1e-9);
  EXPECT_EQ(plots[0].rectangles[0].hint, "cuda:0: power cap");
  ASSERT_EQ(plots[1].lines.size(), 2U);
  EXPECT_EQ(plots[1].lines[1].name, "limit, 700 W");
  EXPECT_EQ(plots[1].lines[1].points.at(0).y, 700);
  const auto files = chart_files(runs, {});
  EXPECT_TRUE(std::ranges::count(files.files, "device-resnet50-eager-fp32-b1-clock", &ChartFile::name));
  EXPECT_TRUE(std::ranges::count(files.files, "device-resnet50-eager-fp32-b1-power", &ChartFile::name));
}

TEST(Plots, ManyReadingsAreThinnedAndOtherSamplersAreNotDrawn) {
  auto runs = watched_run();
  auto& windows = runs[0].sampled.begin()->second;
  std::vector<double> clock(20'000, 1980), power(20'000, 500);
  clock[12'345] = 210;
  windows = {watched(0, clock, power, std::vector<std::string>(20'000, "none"))};
  const auto entry = side_by_side(runs).at(0);
  const auto plots = device_plots(entry);
  EXPECT_LE(plots[0].lines[0].points.size(), 401U);
  EXPECT_EQ(std::ranges::min(plots[0].lines[0].points, {}, &Point::y).y, 210);
  windows[0].sampler = "meter";
  EXPECT_TRUE(device_plots(entry).empty());
  runs[0].sampled.clear();
  EXPECT_TRUE(device_plots(entry).empty());
}

ReportRun with_peaks() {
  ReportRun run{testing::sample_run()};
  auto& one = run.result.cases[0];
  auto& peaks = one.device_peaks.emplace();
  peaks.device = "NVIDIA H200";
  peaks.measured_utc = std::string("2026-11-27T12:00:00Z");
  peaks.peaks = {{"product", "fp32", 52e12, 0.01, 40, "8192", 67e12},
                 {"copy", "within_device", 4e12, 0.01, 40, "1 GiB", 4.8e12}};
  one.flops.flops_per_byte = 26.0;
  one.flops.achieved_flops_per_s = 26e12;
  one.flops.peak_measured_flops_per_s = 52e12;
  run.result.cases.resize(1);
  return run;
}

TEST(Plots, ARooflineHasTheRoofsOfTheDeviceAndACasePerPoint) {
  const auto run = with_peaks();
  const auto plots = roofline_plots(std::span(&run, 1));
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].title, "NVIDIA H200");
  ASSERT_EQ(plots[0].lines.size(), 3U);
  const auto& measured = plots[0].lines[0];
  EXPECT_EQ(measured.name, "fp32: 52.0 TFLOP/s measured");
  EXPECT_DOUBLE_EQ(measured.points.at(1).x, 13) << "the ridge: 52e12 over 4e12";
  EXPECT_DOUBLE_EQ(measured.points.at(1).y, 52);
  EXPECT_DOUBLE_EQ(measured.points.at(0).y / measured.points.at(0).x, 4)
      << "on the slope bytes are the limit";
  EXPECT_EQ(plots[0].lines[1].stroke, Line::Stroke::kDotted);
  EXPECT_EQ(plots[0].lines[1].name, "fp32: 67.0 TFLOP/s by its datasheet");
  const auto& point = plots[0].lines[2].points.at(0);
  EXPECT_DOUBLE_EQ(point.x, 26);
  EXPECT_DOUBLE_EQ(point.y, 26);
  expect_words(point.hint, {"50 % of the compute roof"});
  const auto files = chart_files(std::span(&run, 1), {});
  EXPECT_TRUE(std::ranges::count(files.files, "roofline", &ChartFile::name));
}

TEST(Plots, ARooflineHasTheKernelsThatMatter) {
  auto run = with_peaks();
  run.kernels[run.result.cases.at(0).case_id] = {{"gemm", 3e12, 1e12, 0.7}, {"tiny", 1e12, 1e12, 0.01}};
  const auto plots = roofline_plots(std::span(&run, 1));
  const auto& line = plots.at(0).lines.back();
  ASSERT_EQ(line.points.size(), 1U);
  EXPECT_DOUBLE_EQ(line.points[0].x, 3);
  EXPECT_DOUBLE_EQ(line.points[0].y, 3);
  EXPECT_TRUE(line.name.ends_with("under ncu")) << line.name;
}

TEST(Plots, ARooflineKnowsWhatLimitsAndOneGpuOfSeveral) {
  auto run = with_peaks();
  auto& one = run.result.cases[0];
  one.flops.flops_per_byte = 6.5;
  EXPECT_EQ(roof_over(one)->limit, "memory");
  EXPECT_DOUBLE_EQ(roof_over(one)->share, 1) << "26e12 of 6.5 FLOP per byte times 4e12";
  one.flops.peak_measured_flops_per_s = 104e12;
  EXPECT_DOUBLE_EQ(flops_per_gpu(one), 13e12);
  one.flops.flops_per_byte = Number();
  EXPECT_TRUE(roofline_plots(std::span(&run, 1)).empty());
}

TEST(Plots, ACpuHasItsRoofsWhereBothPeaksWereMeasured) {
  auto run = with_peaks();
  auto& one = run.result.cases[0];
  one.device_peaks =
      result::DevicePeaks{"AMD EPYC, 2 threads", "", {}, std::string("2026-11-27T15:13:01Z"), {}};
  auto& peaks = one.device_peaks->peaks;
  peaks.push_back({result::kConvolution, "fp32", 215e9, 0.01, 0, "peak_conv"});
  peaks.push_back({result::kCopy, result::kWithinDevice, 43e9, 0.01, 0, "copies"});
  one.flops.peak_measured_flops_per_s = 215e9;
  one.flops.achieved_flops_per_s = 21.5e9;
  one.flops.flops_per_byte = 0.5;
  const auto plots = roofline_plots(std::span(&run, 1));
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].title, "AMD EPYC, 2 threads");
  EXPECT_EQ(plots[0].y.title, "GFLOP/s");
  ASSERT_EQ(plots[0].lines.size(), 2U) << "a CPU has no datasheet here";
  EXPECT_EQ(plots[0].lines[0].name, "fp32: 215 GFLOP/s measured");
  EXPECT_DOUBLE_EQ(plots[0].lines[0].points.at(1).x, 5) << "the ridge";
  EXPECT_DOUBLE_EQ(plots[0].lines[1].points.at(0).y, 21.5);
  expect_words(plots[0].lines[1].points.at(0).hint,
               {"21.5 GFLOP/s at 0.500 FLOP/byte", "100 % of the memory roof"});
  one.device_peaks.reset();
  EXPECT_TRUE(roofline_plots(std::span(&run, 1)).empty());
}

// Each has the peak of its precision alone.
TEST(Plots, CasesOfTwoPrecisionsOnACpuHaveTheirRoofsInOneChart) {
  auto run = with_peaks();
  run.result.cases.push_back(run.result.cases[0]);
  for (auto& one : run.result.cases) {
    const bool second = &one == &run.result.cases.back();
    one.benchmark.precision = second ? "bf16" : "fp32";
    const double peak = second ? 1.5e12 : 215e9;
    one.device_peaks =
        result::DevicePeaks{"AMD EPYC, 2 threads", "", {}, std::string("2026-11-27T15:13:01Z"), {}};
    one.device_peaks->peaks = {{result::kProduct, one.benchmark.precision, peak, 0.01, 0, "peak_gemm"},
                               {result::kCopy, result::kWithinDevice, 43e9, 0.01, 0, "copies"}};
    one.flops.peak_measured_flops_per_s = peak;
  }
  run.result.cases[1].case_id = "second";
  const auto plots = roofline_plots(std::span(&run, 1));
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].y.title, "TFLOP/s") << "the unit of the largest";
  ASSERT_GE(plots[0].lines.size(), 2U);
  EXPECT_EQ(plots[0].lines[0].name, "bf16: 1.50 TFLOP/s measured");
  EXPECT_EQ(plots[0].lines[1].name, "fp32: 0.215 TFLOP/s measured");
  const auto sections = kDevicePeaks.of_runs(std::span(&run, 1), Form::kPage);
  ASSERT_EQ(sections.size(), 1U);
  EXPECT_EQ(sections[0].table.rows.size(), 3U) << "fp32, bf16, and copies once";
}

TEST(Plots, ThroughputOverGpusIsBesideTheIdeal) {
  auto run = sampled()[0];
  auto& cases = run.result.cases;
  ASSERT_GE(cases.size(), 3U);
  cases.resize(3);
  for (std::size_t at = 0; at < 3; ++at) {
    auto& one = cases[at];
    const std::int64_t gpus = std::int64_t{1} << at;
    one = cases[0];
    one.case_id = "resnet50-eager-g" + std::to_string(gpus),
    one.label = "resnet50 eager g" + std::to_string(gpus);
    one.benchmark.gpus = gpus;
    one.throughput.per_s = {gpus == 4 ? 380.0 : 100.0 * static_cast<double>(gpus), 90, 400, 0.95, "t"};
    one.scaling.reset();
    if (gpus == 1) continue;
    one.scaling.emplace();
    one.scaling->base_case_id = cases[0].case_id;
    one.scaling->base_world = 1, one.scaling->world = gpus;
  }
  const auto files = chart_files(std::span(&run, 1), {});
  EXPECT_TRUE(std::ranges::count(files.files, "gpu_scaling", &ChartFile::name));
  const auto plots = scaling_plots(side_by_side(std::span(&run, 1)));
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].x.title, "GPUs");
  EXPECT_EQ(plots[0].x.ticks, (std::vector<double>{1, 2, 4}));
  ASSERT_EQ(plots[0].lines.size(), 2U);
  EXPECT_EQ(plots[0].lines[0].name, "ideal");
  EXPECT_DOUBLE_EQ(plots[0].lines[0].points.back().y, 400);
  const auto& measured = plots[0].lines[1];
  EXPECT_EQ(measured.name, "resnet50 eager");
  EXPECT_DOUBLE_EQ(measured.points.at(2).x, 4);
  EXPECT_DOUBLE_EQ(measured.points.at(2).y, 380);
  EXPECT_DOUBLE_EQ(measured.points.at(2).y_low, 90);
  expect_words(plots[0].description, {"4 GPUs 380"});
  for (auto& one : cases) one.benchmark.gpus.reset(), one.benchmark.instances = 2;
  EXPECT_EQ(scaling_plots(side_by_side(std::span(&run, 1)))[0].x.title, "processes");
}

// Plot of two families, each of a first case and one of `most` devices; `tell` writes what tells them apart.
template <class Tell>
Plot two_families(int most, std::optional<std::int64_t> result::Benchmark::*counted, Tell tell) {
  auto run = sampled()[0];
  auto& cases = run.result.cases;
  cases.resize(4, cases.at(0));
  const auto first = cases[0];
  for (std::size_t at = 0; at < 4; ++at) {
    auto& one = cases[at] = first;
    const int count = at % 2 == 0 ? 1 : most;
    one.label = tell(one.benchmark, at / 2) + std::to_string(count);
    one.case_id = one.label;
    one.benchmark.*counted = count;
    one.throughput.per_s = {100.0 * count, 90, 900, 0.95, "t"};
    one.scaling.reset();
    if (count == 1) continue;
    auto& scaling = one.scaling.emplace();
    scaling.base_case_id = cases[at - 1].case_id;
    scaling.base_world = 1, scaling.world = count;
  }
  auto plots = scaling_plots(side_by_side(std::span(&run, 1)));
  EXPECT_EQ(plots.size(), 1U);
  return plots.at(0);
}

std::vector<std::string> line_names(const Plot& plot) {
  std::vector<std::string> names;
  for (const auto& line : plot.lines)
    if (!line.name.empty()) names.push_back(line.name);
  return names;
}

TEST(Plots, FamiliesAreNamedByWhatTellsThemApart) {
  const auto plot = two_families(2, &result::Benchmark::gpus, [](auto& benchmark, std::size_t family) {
    benchmark.engine = family == 0 ? "eager" : "torchscript";
    return "resnet50 " + benchmark.engine + " fp32 b8 g";
  });
  EXPECT_EQ(plot.title, "resnet50 · fp32 · b8");
  EXPECT_EQ(line_names(plot), (std::vector<std::string>{"ideal", "eager", "torchscript"}));
}

// A precision or a model may be written like a number of instances.
TEST(Plots, FamiliesKeepWordsThatAreNoCount) {
  const auto plot = two_families(8, &result::Benchmark::instances, [](auto& benchmark, std::size_t family) {
    benchmark.precision = family == 0 ? "i8" : "r16";
    return "resnet50 eager " + benchmark.precision + " i";
  });
  EXPECT_EQ(line_names(plot), (std::vector<std::string>{"ideal", "i8", "r16"}));
}

TEST(Plots, SharedParametersAreInTheTitleAlone) {
  auto runs = sampled();
  for (auto& one : runs[0].result.cases) one.label += " channels_last cuda:0";
  const auto speedups = speedup_plots(runs).at(0);
  expect_words(speedups.title, {"channels_last · cuda:0"});
  for (const auto& name : speedups.y.categories) EXPECT_EQ(name.find("cuda:0"), std::string::npos) << name;
  const auto worlds = trained(kWorlds);
  const auto losses = loss_plots(side_by_side(worlds)).at(0);
  EXPECT_EQ(losses.title, "resnet50 · train · fp32 · b8");
  ASSERT_EQ(losses.lines.size(), 3U);
  EXPECT_EQ(losses.lines[2].name, "r4");
  Plot plot{.title = "resnet50"};
  EXPECT_EQ(without_shared({"resnet50 eager b8", "resnet50 openvino b8"}, plot),
            (std::vector<std::string>{"eager", "openvino"}));
  EXPECT_EQ(plot.title, "resnet50 · b8") << "the model is there already";
}

TEST(Plots, GpusAndProcessesHaveSeparatePlots) {
  auto run = sampled()[0];
  auto& cases = run.result.cases;
  ASSERT_GE(cases.size(), 4U);
  cases.resize(4);
  const auto first = cases[0];
  for (std::size_t at = 0; at < 4; ++at) {
    auto& one = cases[at] = first;
    const bool gpus = at < 2;
    const char* kind = gpus ? "gpus" : "instances";
    const std::int64_t count = at % 2 == 0 ? 1 : gpus ? 2 : 4;
    one.case_id = fmt::format("{}-{}", kind, count);
    one.label = fmt::format("resnet50 eager {}{}", kind[0], count);
    (gpus ? one.benchmark.gpus : one.benchmark.instances) = count;
    one.throughput.per_s = {100.0 * static_cast<double>(count), 90, 400, 0.95, "t"};
    one.scaling.reset();
    if (count == 1) continue;
    auto& scaling = one.scaling.emplace();
    scaling.base_case_id = cases[at - 1].case_id;
    scaling.base_world = 1, scaling.world = count;
    scaling.efficiency = 1.0, scaling.ci_low = 0.9, scaling.ci_high = 1.1;
    scaling.speedup = static_cast<double>(count);
  }
  const auto plots = scaling_plots(side_by_side(std::span(&run, 1)));
  ASSERT_EQ(plots.size(), 2U);
  EXPECT_EQ(plots[0].x.title, "GPUs");
  EXPECT_EQ(plots[0].x.ticks, (std::vector<double>{1, 2}));
  EXPECT_EQ(plots[1].x.title, "processes");
  EXPECT_EQ(plots[1].x.ticks, (std::vector<double>{1, 4}));
  EXPECT_NE(plots[0].name, plots[1].name);
  const auto reading = [&] {
    return kSharedWork.of_runs(std::span(&run, 1), Form::kPage).at(0).chart.reading;
  };
  expect_words(reading(), {"resnet50 eager i4: 4 processes do 4.00 times the work of 1 process"});
  cases.resize(2);
  EXPECT_TRUE(reading().starts_with("2 GPUs do 2.00 times")) << reading();
}

TEST(ChartFiles, AreNamedOnceAndSayWhatIsLeftOut) {
  const auto inference = chart_files(sampled(), {});
  std::vector<std::string> names;
  for (const auto& file : inference.files) {
    names.push_back(file.name);
    EXPECT_EQ(count(file.svg, "<style>"), 1U);
  }
  EXPECT_TRUE(std::ranges::count(names, "memory"));
  EXPECT_TRUE(std::ranges::count(names, "latency_comparison-resnet50"));
  for (const char* of_all_models : {"latency_comparison", "throughput_comparison"}) {
    const auto file = std::ranges::find(inference.files, of_all_models, &ChartFile::name);
    ASSERT_NE(file, inference.files.end()) << of_all_models;
    for (const char* model : {"resnet50", "vit_b_16"})
      EXPECT_NE(file->svg.find(model), std::string::npos) << model;
  }
  const auto latency = std::ranges::find(inference.files, "latency_comparison", &ChartFile::name);
  EXPECT_NE(latency->svg.find("p50 latency, ms"), std::string::npos);
  EXPECT_TRUE(std::ranges::count(names, "samples-resnet50-eager-fp32-b1-course"));
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_TRUE(std::ranges::count(inference.left_out,
                                 "scaling_efficiency, scaling_curve: no training case may be "
                                 "compared with one of fewer ranks"));
  const auto training = chart_files(trained(kWorlds), {});
  EXPECT_TRUE(std::ranges::count(training.files, "scaling_efficiency", &ChartFile::name));
  EXPECT_TRUE(std::ranges::count(training.files, "stragglers-resnet50-train-fp32-b8-r4", &ChartFile::name));
  EXPECT_TRUE(chart_files({}, {}).files.empty());
}

TEST(ChartFiles, CasesThatTimedBlocksWereMeasured) {
  auto runs = sampled();
  for (auto& one : runs[0].result.cases) one.headline.p50_ns.value = Number::missing("pipelined");
  const auto files = chart_files(runs, {});
  EXPECT_TRUE(std::ranges::count(files.files, "memory", &ChartFile::name));
  EXPECT_TRUE(std::ranges::count(files.left_out, "latency_comparison: no measured case has a latency"));
}

TEST(ChartFiles, ARunThatOnlyFailedHasNone) {
  auto runs = sampled();
  for (auto& one : runs[0].result.cases) one.outcome = result::Outcome::kFailed;
  runs[0].samples.clear();
  const auto files = chart_files(runs, {});
  EXPECT_TRUE(files.files.empty()) << files.files.front().name;
}

}  // namespace
}  // namespace paceline::report
