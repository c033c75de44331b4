// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "analysis/findings.h"
#include "analysis/gates.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using ::paceline::testing::case_of;
using result::CaseResult;
using result::RunResult;

CaseResult closed_loop(std::int64_t concurrency, double per_s) {
  auto one = case_of({"resnet50", "eager", "fp32", 1, 50, 300});
  one.case_id += "-c" + std::to_string(concurrency);
  one.benchmark.scenario = "closed_loop";
  one.benchmark.params["concurrency"] = std::to_string(concurrency);
  one.throughput.per_s = {per_s, per_s * 0.99, per_s * 1.01, 0.95, "batch_means"};
  result::Load load;
  load.concurrency = concurrency;
  one.load = {load};
  return one;
}

RunResult sweep() {
  RunResult run;
  run.cases = {closed_loop(8, 99), closed_loop(1, 40), closed_loop(4, 100), closed_loop(2, 96)};
  return run;
}

TEST(Knee, IsTheSmallestConcurrencyWithNearlyAllThroughput) {
  const auto found = find_knee(sweep());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("is 2: 96.0 images/s"), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].text.find("100 images/s (99.0–101) at concurrency 4"), std::string::npos)
      << found[0].text;
  EXPECT_EQ(found[0].case_ids.front(), sweep().cases[3].case_id);
}

TEST(Knee, NeedsASweep) {
  RunResult run;
  run.cases = {closed_loop(2, 10)};
  EXPECT_TRUE(find_knee(run).empty());
  auto other = closed_loop(4, 10);
  other.benchmark.engine = "torchscript";
  run.cases.push_back(other);
  EXPECT_TRUE(find_knee(run).empty());
}

RunResult with_objective(const std::string& verdict) {
  auto one = case_of({"resnet50", "eager", "fp32", 1, 50, 300});
  result::SloResult slo;
  slo.bound_ns = 50e6;
  slo.verdict = verdict;
  slo.detail = "3 of 20000 requests over 50.0 ms, worth 9000 independent ones";
  result::Load load;
  load.arrival = "poisson";
  load.offered_per_s = 12.5;
  load.slo = {slo};
  one.load = {load};
  RunResult run;
  run.cases = {one};
  return run;
}

TEST(Objectives, EachVerdictIsOneFindingAndOneGate) {
  EXPECT_EQ(find_met_objectives(with_objective("met")).size(), 1U);
  EXPECT_EQ(find_missed_objectives(with_objective("missed")).size(), 1U);
  EXPECT_EQ(find_open_objectives(with_objective("cannot_say")).size(), 1U);
  EXPECT_TRUE(find_missed_objectives(with_objective("met")).empty());
  const auto gates = objective_gates(with_objective("missed"));
  ASSERT_EQ(gates.size(), 1U);
  EXPECT_EQ(gates[0].verdict, "missed");
  EXPECT_EQ(gates[0].expression, "slo p99=50.0 ms");
}

TEST(Objectives, NoneWithoutOne) {
  EXPECT_TRUE(objective_gates(sweep()).empty());
  EXPECT_TRUE(find_open_objectives(sweep()).empty());
}

}  // namespace
}  // namespace paceline::analysis
