// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/findings.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using result::CaseResult;
using result::RunResult;

CaseResult build(const char* file, std::vector<double> medians_ms) {
  auto one = testing::case_of({file, "tensorrt", "fp16", 8, medians_ms.at(medians_ms.size() / 2), 300});
  one.repetitions.resize(medians_ms.size());
  for (std::size_t i = 0; i < medians_ms.size(); ++i) {
    one.repetitions[i].index = static_cast<std::int64_t>(i);
    one.repetitions[i].p50_ns = medians_ms[i] * 1e6;
  }
  const auto [low, high] = std::minmax_element(medians_ms.begin(), medians_ms.end());
  one.headline.p50_ns.ci_low = *low * 1e6;
  one.headline.p50_ns.ci_high = *high * 1e6;
  if (medians_ms.size() < 6) one.headline.scope = result::kWithinProcess;
  return one;
}

RunResult run_of(std::vector<CaseResult> cases) {
  RunResult run;
  run.cases = std::move(cases);
  return run;
}

TEST(Builds, ThatDifferMoreThanProcessesAreAWarning) {
  const auto run =
      run_of({build("m.plan", {10.0, 10.1, 9.9, 10.05}), build("m.build2.plan", {10.6, 10.5, 10.7}),
              build("m.build3.plan", {9.8, 9.9, 9.85, 9.75})});
  const auto found = find_build_spread(run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].text,
      "fp16 tensorrt m.plan at batch 8 with 2 threads: 3 builds have medians of 9.85 ms to 10.5 ms; between "
      "builds they vary by 3.7 %, between processes of one build by 0.8 % (standard deviations).");
  EXPECT_EQ(found[0].evidence,
            "one-way analysis of variance over the medians of 11 processes: F = 78.7, and 4.5 is needed");
  EXPECT_NE(found[0].advice.find("m.build3.plan"), std::string::npos) << found[0].advice;
  EXPECT_EQ(found[0].about.size(), 3U);
  EXPECT_TRUE(find_builds_alike(run).empty());
}

std::string alike_text(const RunResult& run) {
  EXPECT_TRUE(find_build_spread(run).empty());
  const auto found = find_builds_alike(run);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? "" : found[0].text;
}

void expect_has(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

// No significant difference of scattered processes is no proof that there is none.
TEST(Builds, ThatWereNotToldApartAreNotCalledEqual) {
  const auto text = alike_text(run_of({build("m.plan", {10.0, 10.5, 9.5, 10.2, 9.8, 10.1}),
                                       build("m.build2.plan", {10.1, 9.6, 10.4, 9.9, 10.0, 10.3})}));
  expect_has(text, "whether they differ cannot be said (slowest over fastest 0.");
  EXPECT_EQ(text.find("equal"), std::string::npos) << text;
}

TEST(Builds, ThatAreEqualWithinTheMarginAreSaidToBe) {
  expect_has(alike_text(run_of({build("m.plan", {10.000, 10.001, 9.999, 10.002, 9.998, 10.000}),
                                build("m.build2.plan", {10.02, 10.021, 10.019, 10.022, 10.018, 10.02})})),
             "they are equal within 5 % (slowest over fastest 1.00–1.00)");
}

// Few processes that happen to be close to each other are no evidence of equality.
TEST(Builds, FewerThanSixProcessesDoNotMakeThemEqual) {
  const auto text = alike_text(
      run_of({build("m.plan", {10.000, 10.001, 9.999}), build("m.build2.plan", {10.020, 10.021, 10.019})}));
  expect_has(text, "whether they differ is not claimed: fewer than six pairs of processes");
  EXPECT_EQ(text.find("equal"), std::string::npos) << text;
}

TEST(Builds, MeasuredAtDifferentTimesAreNotCompared) {
  auto run = run_of({build("m.plan", {10.0, 10.1, 9.9, 10.05, 9.95, 10.0}),
                     build("m.build2.plan", {10.6, 10.5, 10.7, 10.6, 10.5, 10.7})});
  ASSERT_EQ(find_build_spread(run).size(), 1U);
  for (std::size_t i = 0; i < 6; ++i) {
    run.cases[0].repetitions[i].started_utc = "2026-11-21T01:0" + std::to_string(i) + ":00Z";
    run.cases[1].repetitions[i].started_utc = "2026-11-21T05:0" + std::to_string(i) + ":00Z";
  }
  expect_has(alike_text(run), "whether they differ is not claimed: not all of them ran in turns");
  ASSERT_EQ(find_builds_alike(run).size(), 1U);
  EXPECT_EQ(find_builds_alike(run)[0].advice, "Measure the builds again together.");
}

// One process of each tells nothing; other models, other batches and invalid cases are no builds of one.
TEST(Builds, NothingIsSaidWithoutTwoOfThem) {
  const std::vector<double> calm{10.0, 10.1, 9.9}, other{20.0, 20.1, 19.9};
  auto larger = build("m.build2.plan", other), threads = build("m.build2.plan", other);
  larger.benchmark.batch_per_rank = 16;
  threads.benchmark.threads = 4;
  for (const auto& run :
       {run_of({build("m.plan", calm)}), run_of({build("m.plan", calm), build("n.build2.plan", other)}),
        run_of({build("m.plan", {10.0}), build("m.build2.plan", {20.0})}),
        run_of({build("m.plan", calm), larger}), run_of({build("m.plan", calm), threads})}) {
    EXPECT_TRUE(find_build_spread(run).empty());
    EXPECT_TRUE(find_builds_alike(run).empty());
  }
}

}  // namespace
}  // namespace paceline::analysis
