// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "report/decimate.h"
#include "report/format_table.h"
#include "report/html_parts.h"
#include "result/metric_table.h"
#include "support/sample_runs.h"
#include "support/words.h"

namespace paceline::report {
namespace {

using ::paceline::testing::sample_run;
using ::paceline::testing::sample_times;
using test::count;

ReportRun sample_report(int per_repetition = 60) {
  ReportRun run{sample_run(), {}};
  run.samples = sample_times(run.result, per_repetition);
  return run;
}

std::string page_of(const std::vector<ReportRun>& runs) {
  return find_format("html").render(runs, {});
}

// The page without the embedded scripts.
std::string markup(const std::vector<ReportRun>& runs) {
  const std::string page = page_of(runs);
  return page.substr(0, page.rfind("<script>"));
}

TEST(Html, NoPlaceholderIsLeftAndNothingIsFetched) {
  const std::string page = markup({sample_report()});
  EXPECT_EQ(page.find("{{"), std::string::npos);
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
}

TEST(Html, ProcessesThatTimedBlocksHaveNoMedianLatency) {
  auto run = sample_report();
  run.result.cases.resize(1);
  const auto processes = [&] {
    const auto page = markup({run});
    const auto at = page.find("class=\"processes\"");
    return page.substr(at, page.find("</thead>", at) - at);
  };
  EXPECT_NE(processes().find("p50 ms"), std::string::npos) << processes();
  run.result.cases[0].back_to_back_ns = ::paceline::testing::around(4e5, 0.01, "binomial_processes");
  EXPECT_EQ(processes().find("p50 ms"), std::string::npos) << processes();
  EXPECT_NE(processes().find("back to back ms"), std::string::npos) << processes();
}

TEST(Html, TheTitleOfACommandLineIsWhatWasMeasured) {
  auto run = sample_report();
  run.result.experiment_name = "infer";
  EXPECT_NE(markup({run}).find("<h1>resnet50, "), std::string::npos);
  run.result.cases.resize(1);
  EXPECT_NE(markup({run}).find("<h1>" + run.result.cases[0].label), std::string::npos);
}

TEST(Html, HasEverySectionAndChart) {
  const std::string page = markup({sample_report()});
  for (const char* id :
       {"charts", "cases", "more-charts", "findings", "environment", "formulas", "reproduce"})
    EXPECT_EQ(count(page, std::string("<section id=\"") + id + "\""), 1U) << id;
  for (const char* chart :
       {"throughput_comparison", "latency_comparison", "pareto", "speedup", "memory", "peak"})
    EXPECT_EQ(count(page, std::string("data-chart=\"") + chart + "\""), 1U) << chart;
  EXPECT_EQ(count(page, "data-chart=\"samples\""), 8U);
  EXPECT_EQ(count(page, "<figcaption>"), 14U);
  EXPECT_EQ(count(page, "class=\"formula\""), 14U);
}

TEST(Html, EveryMetricHasItsFormulaAndEveryLinkATarget) {
  const std::string page = markup({sample_report()});
  for (const auto& metric : result::metrics())
    EXPECT_EQ(count(page, "id=\"formula-" + std::string(metric.name) + "\""), 1U) << metric.name;
  for (auto at = page.find("href=\"#"); at != std::string::npos; at = page.find("href=\"#", at + 1)) {
    const auto from = at + 7;
    const std::string id = page.substr(from, page.find('"', from) - from);
    EXPECT_EQ(count(page, "id=\"" + id + "\""), 1U) << id;
  }
}

TEST(Html, ShowsNumbersVerdictAndReasons) {
  const std::string page = markup({sample_report()});
  EXPECT_NE(page.find("54.1 ±1.1"), std::string::npos);
  EXPECT_NE(page.find("8 of 10 cases measured"), std::string::npos);
  EXPECT_NE(page.find("skipped (unsupported): fp16 arithmetic needs AVX512_FP16, which this CPU lacks"),
            std::string::npos);
  EXPECT_NE(page.find("failed (accuracy): centred cosine 0.41 is below 0.98"), std::string::npos);
  EXPECT_NE(page.find("check: 8 samples compared"), std::string::npos);
  EXPECT_NE(page.find("EPYC (test) · 2 cores · 24.0 GB · governor not visible · Linux 6.1.0 · <span"),
            std::string::npos);
  EXPECT_NE(page.find("versions of libraries</summary>LibTorch 2.15.0 · oneDNN 3.13<"), std::string::npos);
}

TEST(Html, FiguresOfACaseSayLessWhereLessIsKnown) {
  auto run = sample_report();
  auto& one = run.result.cases[1];
  one.speedup.ratio = {1.04, 0.96, 1.12, 0.95, ""};
  one.speedup.verdict = result::Speed::kInconclusive;
  result::Load load;
  load.capacity.per_s = 120.0;
  one.payload = load;
  const std::string page = markup({run});
  EXPECT_EQ(count(page, "<td>1.04"), 0U);
  EXPECT_EQ(count(page, "<td>not decided: 0.960–1.12</td>"), 1U);
  EXPECT_EQ(count(page, "<td>at least 120 1/s</td><td>a lower bound</td>"), 1U);
  EXPECT_EQ(count(page, "95 % interval or reason"), 0U);
}

TEST(Html, SharedRowsAppearOnceAndManyCasesAppearAsText) {
  auto run = sample_report();
  for (auto& one : run.result.cases)
    one.config_effective = {{"model", one.benchmark.model}, {"confidence", 0.95}};
  const std::string few = markup({run});
  EXPECT_EQ(count(few, "<th scope=\"row\">confidence</th>"), 1U);
  EXPECT_EQ(count(few, "type=\"text/html\""), 0U);
  const auto one = run.result.cases.front();
  while (run.result.cases.size() <= 200) {
    run.result.cases.push_back(one);
    run.result.cases.back().case_id += std::to_string(run.result.cases.size());
  }
  const std::string many = markup({run});
  EXPECT_EQ(count(many, "<script type=\"text/html\">"), run.result.cases.size());
  EXPECT_EQ(count(many, "<th scope=\"row\">confidence</th>"), 1U);
}

// One batch size has no line over batches: one chart of bars, with words that fit.
TEST(Html, OneBatchSizeIsOneChart) {
  auto run = sample_report();
  std::erase_if(run.result.cases, [](const auto& one) { return one.benchmark.batch_per_rank != 1; });
  const std::string page = markup({run});
  EXPECT_EQ(count(page, "data-chart=\"latency_comparison\""), 1U);
  EXPECT_EQ(count(page, "data-chart=\"throughput_comparison\""), 0U);
  EXPECT_EQ(count(page, "over batch"), 0U);
  EXPECT_EQ(count(page, "A line that rises"), 0U);
  EXPECT_EQ(count(page, "<h3>Latency</h3>"), 1U);
  for (auto& one : run.result.cases)
    one.benchmark.scenario = Scenario::kServer;  // its throughput is another figure
  EXPECT_EQ(count(markup({run}), "data-chart=\"throughput_comparison\""), 1U);
  EXPECT_EQ(count(markup({sample_report()}), "<h3>Latency over batch</h3>"), 1U);
}

// A server's distribution and stages come before everything else.
TEST(Html, AServerShowsItsRequestsFirst) {
  auto run = sample_report();
  auto& one = run.result.cases[0];
  one.benchmark.scenario = Scenario::kServer;
  one.benchmark.params["max_batch"] = "4";
  one.benchmark.params["env.OMP_PROC_BIND"] = "true";
  result::Load load;
  load.stages = {{"queue", 3e6, {}, {}}, {"compute", 50e6, {}, {}}};
  one.payload = load;
  const std::string page = markup({run});
  const auto requests = page.find("data-chart=\"requests\""), stages = page.find("data-chart=\"stages\"");
  ASSERT_NE(stages, std::string::npos);
  EXPECT_LT(requests, stages);
  EXPECT_LT(stages, page.find("data-chart=\"throughput_comparison\""));
  EXPECT_NE(page.find("Longest queue: 3.00 ms of resnet50 eager fp32 b1."), std::string::npos);
  EXPECT_EQ(count(markup({sample_report()}), "data-chart=\"stages\""), 0U);
}

TEST(Html, EvidenceAndEnvironmentAreFolded) {
  const std::string page = markup({sample_report()});
  EXPECT_EQ(count(page, "<details open"), 0U);
  EXPECT_NE(page.find("<details class=\"evidence\"><summary>Evidence</summary>"), std::string::npos);
  EXPECT_EQ(count(page, "Evidence: "), 0U);
}

TEST(Html, ThePageMayLoadNothing) {
  const std::string page = markup({sample_report()});
  const auto policy = page.find("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';");
  ASSERT_NE(policy, std::string::npos);
  EXPECT_LT(policy, page.find("<style>")) << "a policy counts for what follows it";
}

TEST(Html, MissingIsADashAndNeverZero) {
  auto run = sample_report();
  for (auto& one : run.result.cases) {
    one.memory = {};
    one.flops = {};
  }
  EXPECT_EQ(markup({run}).find("data-chart=\"memory\""), std::string::npos);
}

TEST(Html, EscapesNamesOfUsersEverywhere) {
  auto run = sample_report();
  const std::string attack = "</script><script>alert(1)</script><img src=x onerror=alert(1)>";
  run.result.experiment_name = run.result.command_line = attack;
  run.result.warnings = {attack};
  run.result.environment["note"] = attack;
  for (auto& one : run.result.cases) {
    one.label = one.benchmark.model = one.reason = one.log_tail = attack;
    one.grade_reasons = {attack};
    one.effective_settings[attack] = attack;
  }
  const std::string page = page_of({run});
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(count(page, "<script>alert"), 0U);
  EXPECT_EQ(count(page, "<img"), 0U);
}

TEST(Html, InvalidUtf8IsReplaced) {
  auto run = sample_report();
  run.result.cases[0].label = "bad \xff name";
  EXPECT_NE(page_of({run}).find("bad \xEF\xBF\xBD name"), std::string::npos);
}

TEST(Html, SeveralRunsStandSideBySide) {
  auto second = sample_report();
  second.result.run_id = "20261122T091200Z-11aa";
  second.result.cases[0].headline.p50_ns = {61e6, 60e6, 62e6, 0.95, "binomial_processes"};
  const std::string page = markup({sample_report(), second});
  EXPECT_EQ(count(page, "<th scope=\"col\" class=\"text\" data-sort=\"text\">run</th>"), 1U);
  EXPECT_LT(page.find("54.1 ±1.1"), page.find("61.0 ±1.0"));
  EXPECT_LT(page.find("61.0 ±1.0"), page.find("47.9 ±1.0"));
  EXPECT_EQ(count(page, "id=\"case-A-resnet50-eager-fp32-b1\""), 1U);
  EXPECT_EQ(count(page, "id=\"case-B-resnet50-eager-fp32-b1\""), 1U);
}

TEST(Html, WithoutSamplesNoDistributionIsPromised) {
  EXPECT_EQ(markup({ReportRun{sample_run(), {}}}).find("data-chart=\"samples\""), std::string::npos);
}

TEST(Decimate, KeepsAllWhenTheyFitAndBothExtremesOtherwise) {
  std::vector<double> values(1000, 5.0);
  values[333] = 9;
  values[334] = 1;
  EXPECT_EQ(decimate(values, 1000).size(), 1000U);
  const auto kept = decimate(values, 100);
  EXPECT_LE(kept.size(), 100U);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(std::adjacent_find(kept.begin(), kept.end()), kept.end());
  EXPECT_EQ(std::count(kept.begin(), kept.end(), 333U), 1);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), 334U), 1);
}

TEST(Histogram, CountsEveryValueOnce) {
  const std::vector<double> equal(50, 2.0);
  EXPECT_EQ(histogram(equal).counts.front(), 50);
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(10 + i % 100 * 0.01);
  values.push_back(500);
  const auto h = histogram(values);
  EXPECT_EQ(h.beyond, 1);
  std::int64_t counted = 0;
  for (const auto bin : h.counts) counted += bin;
  EXPECT_EQ(counted, 1000);
  EXPECT_TRUE(histogram({}).counts.empty());
}

}  // namespace
}  // namespace paceline::report
