// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "analysis/findings.h"
#include "analysis/gates.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using answer::Verdict;

using ::paceline::testing::case_of;
using result::CaseResult;
using result::RunResult;

CaseResult closed_loop(std::int64_t concurrency, double per_s) {
  auto one = case_of({"resnet50", "eager", "fp32", 1, 50, 300});
  one.case_id += "-c" + std::to_string(concurrency);
  one.benchmark.scenario = Scenario::kClosedLoop;
  one.benchmark.params["concurrency"] = std::to_string(concurrency);
  one.throughput.per_s = {per_s, per_s * 0.99, per_s * 1.01, 0.95, "batch_means"};
  result::Load load;
  load.concurrency = concurrency;
  one.payload = load;
  return one;
}

RunResult sweep() {
  RunResult run;
  run.cases = {closed_loop(8, 99), closed_loop(1, 40), closed_loop(4, 100), closed_loop(2, 98)};
  return run;
}

TEST(Knee, IsTheSmallestConcurrencyWithNearlyAllThroughput) {
  const auto found = find_knee(sweep());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("is 2: 98.0 images/s"), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].text.find("100 images/s (99.0–101) at concurrency 4"), std::string::npos)
      << found[0].text;
  EXPECT_EQ(found[0].about.front(), sweep().cases[3].case_id);
}

TEST(Knee, IsNoClaimWhereTheIntervalsDoNotCarryIt) {
  const auto claims = [](const RunResult& run) {
    return find_knee(run).at(0).text.find("no claim") == std::string::npos;
  };
  auto run = sweep();
  EXPECT_TRUE(claims(run));
  ::paceline::testing::pair_with(run.cases[3], run.cases[2], 0.97, 1, 1.06);  // in one pair less than 95 %
  EXPECT_FALSE(claims(run));
  run = sweep();
  run.cases[2].grade = result::Grade::kC;
  EXPECT_TRUE(claims(run));
  run.cases[2].repetitions.resize(5);
  EXPECT_FALSE(claims(run));
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

CaseResult layout(std::int64_t instances, std::int64_t threads, double per_s) {
  auto one = closed_loop(1, per_s);
  one.case_id += "-i" + std::to_string(instances) + "-t" + std::to_string(threads);
  one.benchmark.params.erase("concurrency");
  one.benchmark.instances = instances;
  one.benchmark.threads = threads;
  one.headline.scope = result::kBetweenProcess;
  return one;
}

TEST(Layouts, TheBestIsNamedWithTheEfficiencyOfMoreInstances) {
  RunResult run;
  run.cases = {layout(1, 1, 100), layout(1, 2, 150), layout(2, 1, 190)};
  const auto found = find_layouts(run);
  ASSERT_EQ(found.size(), 1U);
  const auto& text = found[0].text;
  EXPECT_NE(text.find("2×1 has the highest throughput: 190 images/s"), std::string::npos) << text;
  EXPECT_NE(text.find("2×1 does 1.90x the work of 1×1 (1.90–1.90), an efficiency of 95 %"), std::string::npos)
      << text;
  EXPECT_EQ(found[0].about.front(), run.cases[2].case_id);
}

TEST(Layouts, NothingIsClaimedFromOverlapsOrOneProcess) {
  RunResult base;
  base.cases = {layout(1, 2, 100), layout(2, 1, 190)};
  const auto claims = [](const RunResult& run) {
    return find_layouts(run).at(0).text.find("no claim") == std::string::npos;
  };
  EXPECT_TRUE(claims(base));
  RunResult overlap = base, one_process = base, disturbed = base;
  ::paceline::testing::pair_with(overlap.cases[0], overlap.cases[1], 0.2, 1, 0.3);
  one_process.cases[0].repetitions.resize(1);
  disturbed.cases[1].grade = result::Grade::kC;
  for (const auto& run : {overlap, one_process}) EXPECT_FALSE(claims(run));
  EXPECT_TRUE(claims(disturbed));
}

TEST(Layouts, AnEfficiencyThatClaimsNothingSaysSo) {
  RunResult run;
  run.cases = {layout(1, 1, 100), layout(2, 1, 190), layout(4, 1, 320), layout(4, 2, 500)};
  run.cases[1].repetitions.resize(5);
  const auto text = find_layouts(run).at(0).text;
  EXPECT_NE(text.find("2×1 does 1.90x the work of 1×1, an efficiency of 95 % (no claim: "), std::string::npos)
      << text;
  EXPECT_NE(text.find("4×1 does 3.20x the work of 1×1"), std::string::npos) << text;
  EXPECT_EQ(text.find("4×2 does"), std::string::npos) << text;  // other threads per instance
}

TEST(Layouts, NeedInstancesThatThePlanNames) {
  RunResult run;
  run.cases = {closed_loop(1, 100), layout(2, 1, 190)};
  EXPECT_TRUE(find_layouts(run).empty());
}

RunResult with_objective(Verdict verdict) {
  auto one = case_of({"resnet50", "eager", "fp32", 1, 50, 300});
  result::SloResult slo;
  slo.bound_ns = 50e6;
  slo.offered_per_s = 12.5;
  slo.verdict = verdict;
  slo.detail = "3 of 20000 requests over 50.0 ms, worth 9000 independent ones";
  result::Load load;
  load.arrival = "poisson";
  load.offered_per_s = 12.5;
  load.slo = slo;
  one.payload = load;
  RunResult run;
  run.cases = {one};
  return run;
}

TEST(Objectives, AVerdictNamesTheRateThatItStandsAt) {
  auto run = with_objective(Verdict::kYes);
  EXPECT_NE(find_met_objectives(run).front().text.find("at 12.5 requests/s"), std::string::npos);
  run.cases[0].load()->slo->offered_per_s = 9.5;  // of one process of several
  EXPECT_NE(find_met_objectives(run).front().text.find("at 9.50 requests/s"), std::string::npos);
}

TEST(Objectives, EachVerdictIsOneFindingAndOneGate) {
  EXPECT_EQ(find_met_objectives(with_objective(Verdict::kYes)).size(), 1U);
  EXPECT_EQ(find_missed_objectives(with_objective(Verdict::kNo)).size(), 1U);
  EXPECT_EQ(find_open_objectives(with_objective(Verdict::kCannotSay)).size(), 1U);
  EXPECT_TRUE(find_missed_objectives(with_objective(Verdict::kYes)).empty());
  const auto gates = objective_gates(with_objective(Verdict::kNo));
  ASSERT_EQ(gates.size(), 1U);
  EXPECT_EQ(gates[0].verdict, Verdict::kNo);
  EXPECT_EQ(gates[0].expression, "slo p99=50.0 ms");
}

RunResult with_capacity(bool bracketed) {
  auto run = with_objective(Verdict::kYes);
  auto& capacity = run.cases[0].load()->capacity;
  capacity.per_s = 120.0;
  capacity.trials = {{120, 16'000, 3, true, false, Verdict::kYes}};
  if (bracketed)
    capacity.missed_per_s = 130.0;
  else
    capacity.missed_per_s = Number::missing("no higher rate was tried");
  return run;
}

TEST(Capacity, ALowerBoundDecidesOnlyWhatIsBelowIt) {
  const auto verdict = [](const std::string& gate, bool bracketed) {
    return decide_gates({gate}, with_capacity(bracketed)).front().verdict;
  };
  for (const bool bracketed : {false, true}) {
    EXPECT_EQ(verdict("capacity_per_s >= 120", bracketed), Verdict::kYes);
    EXPECT_EQ(verdict("capacity_per_s > 125", bracketed), Verdict::kCannotSay);
    EXPECT_EQ(verdict("capacity_per_s < 110", bracketed), Verdict::kNo);
  }
  EXPECT_EQ(verdict("capacity_per_s > 150", false), Verdict::kCannotSay);
  EXPECT_EQ(verdict("capacity_per_s < 150", false), Verdict::kCannotSay);
  EXPECT_EQ(verdict("capacity_per_s > 150", true), Verdict::kNo);
  EXPECT_EQ(verdict("capacity_per_s < 150", true), Verdict::kYes);
  const auto detail = decide_gates({"capacity_per_s > 150"}, with_capacity(false)).front().detail;
  EXPECT_NE(detail.find("at least 120"), std::string::npos) << detail;
}

TEST(Capacity, AnUnbracketedCapacityIsAWarning) {
  ASSERT_EQ(find_open_capacities(with_capacity(false)).size(), 1U);
  const auto text = find_open_capacities(with_capacity(false)).front().text;
  EXPECT_NE(text.find("at least 120/s: no higher rate was tried"), std::string::npos) << text;
  EXPECT_TRUE(find_capacities(with_capacity(false)).empty());
  ASSERT_EQ(find_capacities(with_capacity(true)).size(), 1U);
  EXPECT_TRUE(find_open_capacities(with_capacity(true)).empty());
  EXPECT_NE(objective_gates(with_capacity(false)).front().detail.find("capacity: at least"),
            std::string::npos);
}

TEST(Objectives, NoneWithoutOne) {
  EXPECT_TRUE(objective_gates(sweep()).empty());
  EXPECT_TRUE(find_open_objectives(sweep()).empty());
}

}  // namespace
}  // namespace paceline::analysis
