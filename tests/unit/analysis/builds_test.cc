// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

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
  for (std::size_t i = 0; i < medians_ms.size(); ++i) one.repetitions[i].p50_ns = medians_ms[i] * 1e6;
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
  EXPECT_EQ(found[0].case_ids.size(), 3U);
  EXPECT_TRUE(find_builds_alike(run).empty());
}

// No significant difference of few, scattered processes is no proof that there is none.
TEST(Builds, ThatWereNotToldApartAreNotCalledEqual) {
  const auto run = run_of({build("m.plan", {10.0, 10.2, 9.8}), build("m.build2.plan", {10.1, 9.9, 10.0})});
  EXPECT_TRUE(find_build_spread(run).empty());
  ASSERT_EQ(find_builds_alike(run).size(), 1U);
  const auto text = find_builds_alike(run)[0].text;
  EXPECT_NE(text.find("whether they differ cannot be said (slowest over fastest 0."), std::string::npos)
      << text;
  EXPECT_EQ(text.find("equal"), std::string::npos) << text;
}

TEST(Builds, ThatAreEqualWithinTheMarginAreSaidToBe) {
  const auto run =
      run_of({build("m.plan", {10.000, 10.001, 9.999}), build("m.build2.plan", {10.020, 10.021, 10.019})});
  EXPECT_TRUE(find_build_spread(run).empty());
  ASSERT_EQ(find_builds_alike(run).size(), 1U);
  EXPECT_NE(find_builds_alike(run)[0].text.find("they are equal within 5 % (slowest over fastest 1.00–1.00)"),
            std::string::npos)
      << find_builds_alike(run)[0].text;
}

// One process of each tells nothing; other models, other batches and invalid cases are no builds of one.
TEST(Builds, NothingIsSaidWithoutTwoOfThem) {
  const std::vector<double> calm{10.0, 10.1, 9.9}, other{20.0, 20.1, 19.9};
  auto larger = build("m.build2.plan", other), noisy = build("m.build2.plan", other),
       threads = build("m.build2.plan", other);
  larger.benchmark.batch_per_rank = 16;
  noisy.grade = result::Grade::kC;
  threads.benchmark.threads = 4;
  for (const auto& run :
       {run_of({build("m.plan", calm)}), run_of({build("m.plan", calm), build("n.build2.plan", other)}),
        run_of({build("m.plan", {10.0}), build("m.build2.plan", {20.0})}),
        run_of({build("m.plan", calm), larger}), run_of({build("m.plan", calm), noisy}),
        run_of({build("m.plan", calm), threads})}) {
    EXPECT_TRUE(find_build_spread(run).empty());
    EXPECT_TRUE(find_builds_alike(run).empty());
  }
}

}  // namespace
}  // namespace paceline::analysis
