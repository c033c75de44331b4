// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/case_query.h"
#include "analysis/finding_table.h"
#include "analysis/gates.h"
#include "result/figures/device_figures.h"
#include "support/training_run.h"
#include "unit/analysis/findings_of.h"

namespace paceline::analysis {
namespace {

using ::paceline::testing::training_run;
using ::paceline::testing::WorldSpec;
using result::Finding;
using result::RunResult;

std::string only_text(const RunResult& run, const std::string& id) {
  const auto found = of_kind(run, id);
  EXPECT_EQ(found.size(), 1U) << id;
  return found.empty() ? "" : found.front().text;
}

void expect_says(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST(TrainingFindings, ALateRankIsNamedWithItsPlace) {
  const auto text = only_text(training_run(), "straggler");
  expect_says(text, "wait for rank 3 (host node-a, CPUs 3)");
  expect_says(text, "7.");  // percent: 8 % of forward and backward, which are most of a step
}

TEST(TrainingFindings, AWaitForALateRankIsNotBlamedOnCommunication) {
  const auto run = training_run({{.ranks = 1}, {.ranks = 2, .ddp = true, .exposed_ms = 2, .late = 1.5}});
  expect_says(only_text(run, "straggler"), "wait for rank 1");
  expect_says(of_kind(run, "straggler").front().evidence, "from the first timed step on");
  EXPECT_TRUE(of_kind(run, "exposed_communication").empty());
  expect_says(only_text(run, "poor_scaling"), "2 ranks reach");
  expect_says(of_kind(run, "poor_scaling").front().evidence, "waiting for late ranks 45.0 ms");
}

TEST(TrainingFindings, RanksThatAreLateInTurnsHaveAFindingOfTheirOwn) {
  auto run = training_run({{.ranks = 2, .ddp = true, .late = 1.5}});
  auto& training = *run.cases[0].training();
  training.straggler_rank = Count::missing("no rank is late with certainty");
  training.suspected = std::exchange(training.late, {});
  training.late.clear();
  auto alone = training.suspected.front();
  training.suspected.clear();
  expect_says(only_text(run, "straggler"),
              "waits for whichever rank is last; no single rank is late with certainty");
  const double step_ns = *training.costs.step_ns.value;
  for (auto& rank : training.ranks) rank.evidence.runq_wait_ns = 0.09 * step_ns;
  EXPECT_EQ(of_kind(run, "straggler").front().evidence.find("for a CPU"), std::string::npos);
  training.ranks.front().evidence.runq_wait_ns = 0.11 * step_ns;
  expect_says(of_kind(run, "straggler").front().evidence, "the ranks waited");
  expect_says(of_kind(run, "straggler").front().advice, "Stop other work on the hosts");
  alone.certain = false, alone.steps = 4, alone.exchanges = 4, alone.late_exchanges = 4, alone.last_share = 1;
  alone.chance = 0.01;
  training.suspected = {alone};
  expect_says(only_text(run, "straggler"),
              "rank 1 came last in 4 of 4 steps and caused all of the waiting; too few steps to be certain: "
              "time at least 13 steps");
  alone.chance = 1e-9;
  training.suspected = {alone};
  expect_says(only_text(run, "straggler"),
              "the scheduler may favour one for seconds: pin them, or time at least");
}

TEST(TrainingFindings, ARankThatIsLateNowAndThenIsNamedByWhatItCosts) {
  auto run = training_run({{.ranks = 2, .ddp = true, .late = 1.5}});
  auto& training = *run.cases[0].training();
  training.straggler_index = 1.001;
  training.late.front().every = 10;
  training.late.front().cost_ns = 0.06 * *training.costs.step_ns.value;
  expect_says(only_text(run, "straggler"),
              "wait for rank 1 (host node-a, CPUs 1): that is 6.0 % of a mean step");
  expect_says(of_kind(run, "straggler").front().evidence, "every 10 steps");
}

TEST(TrainingFindings, ARankThatIsNotLateAtFirstIsNotSaidToBeSo) {
  auto run = training_run({{.ranks = 2, .ddp = true, .late = 1.5}});
  auto& late = run.cases[0].training()->late.front();
  late.begins_late = false, late.chance = 1e-4, late.last_share = 0.9;
  const auto evidence = of_kind(run, "straggler").front().evidence;
  EXPECT_EQ(evidence.find("first timed step"), std::string::npos);
  expect_says(evidence, "it was the last in 90.0 % of the timed steps");
  expect_says(evidence, "; probability that chance alone looks like this: 0.0001");
}

TEST(TrainingFindings, ARankThatIsLateByLittleIsNoStragglerButIsSaid) {
  auto run = training_run({{.ranks = 2, .ddp = true, .late = 1.5}});
  run.cases[0].training()->straggler_index = 1.03;
  run.cases[0].training()->late.front().cost_ns = 0.04 * *run.cases[0].training()->costs.step_ns.value;
  expect_says(only_text(run, "straggler"), "rank 1 is late, but its straggler index is only 1.030");
}

TEST(TrainingFindings, TimeThatNobodyExplainsIsSaidToBeUnexplained) {
  const auto run = training_run({{.ranks = 1}, {.ranks = 2, .ddp = true, .forward_ms = 60}});
  const auto poor = of_kind(run, "poor_scaling");
  ASSERT_EQ(poor.size(), 1U);
  expect_says(poor.front().evidence, "of the time lost: unexplained 30.0 ms (100 %)");
  expect_says(poor.front().advice, "add ddp.enabled: [auto, false]");
}

TEST(TrainingFindings, ABudgetThatExplainsMoreThanThereIsIsSaid) {
  const auto run = training_run(
      {{.ranks = 1, .forward_ms = 60}, {.ranks = 2, .ddp = true, .forward_ms = 45, .exposed_ms = 40}});
  expect_says(only_text(run, "overdrawn_budget"), "explain 155 % of the gap to 1 rank and leave -55 %");
  const auto close = training_run(
      {{.ranks = 1, .forward_ms = 60}, {.ranks = 2, .ddp = true, .forward_ms = 45, .exposed_ms = 15}});
  const auto words = only_text(close, "overdrawn_budget");
  expect_says(words, "add up to ");
  expect_says(words, " times the gap to 1 rank");
  EXPECT_EQ(words.find('%'), std::string::npos) << words;
  auto noisy = run;  // what is left may be nothing
  for (auto& one : noisy.cases)
    if (one.scaling) one.scaling->budget.back().cost_ns.ci_high = 1e6;
  EXPECT_TRUE(of_kind(noisy, "overdrawn_budget").empty());
  const auto even = training_run({{.ranks = 1}, {.ranks = 2, .ddp = true, .exposed_ms = 40}});
  EXPECT_TRUE(of_kind(even, "overdrawn_budget").empty());
}

TEST(TrainingFindings, AFaultThatNeverCameIsSaid) {
  auto run = training_run({{.ranks = 2, .ddp = true}});  // 40 steps
  const auto asked = [&](const std::string& fault) {
    run.cases[0].benchmark.fault = fault;
    return of_kind(run, "fault_missed").size();
  };
  EXPECT_EQ(asked("kill:rank=1,step=39"), 0U);
  EXPECT_EQ(asked("kill:rank=1,step=40"), 1U);
  expect_says(only_text(run, "fault_missed"),
              "'kill:rank=1,step=40' never came: training ended after step 39");
  EXPECT_EQ(asked("slow=1s:rank=7,step=40"), 0U);  // another world's
  EXPECT_EQ(asked("of another version"), 0U);
  run.cases[0].training()->checkpoints.resumed_step = 10;
  EXPECT_EQ(asked("kill:rank=1,step=49"), 0U);
  EXPECT_EQ(asked("kill:rank=1,step=50"), 1U);
  run.cases[0].training()->restarts.emplace_back();
  EXPECT_EQ(asked("kill:rank=1,step=50"), 0U);
}

TEST(TrainingFindings, AnOperatorThatTakesMuchOfAStepIsNamed) {
  auto run = training_run({{.ranks = 1}});
  result::ProfiledSteps steps;
  steps.step_ns = {120e6, 120e6};
  steps.operators = {{"aten::conv", 106, 60e6, 60e6, {}}};
  run.cases[0].operator_profile = result::summarize_operators(steps, 100e6);
  expect_says(only_text(run, "top_operator"), "aten::conv takes 25.0 % of a profiled step by itself");
  expect_says(of_kind(run, "top_operator").front().evidence,
              "30.0 ms in 53 calls per step; a profiled step took 1.20 times a timed one");
  run.cases[0].operator_profile->top[0].share = 0.19;
  EXPECT_TRUE(of_kind(run, "top_operator").empty());
  *run.cases[0].operator_profile = {};
  EXPECT_TRUE(of_kind(run, "top_operator").empty());
}

TEST(TrainingFindings, ConvolutionsOutsideOneDnnAreCountedWhereTheyAreKnown) {
  const auto text_of = [](std::vector<result::OperatorRow> operators) {
    auto run = training_run({{.ranks = 1}});
    run.cases[0].benchmark.threads = 1;
    result::ProfiledSteps steps;
    steps.step_ns = {100e6, 100e6};
    steps.operators = std::move(operators);
    run.cases[0].operator_profile = result::summarize_operators(steps, 100e6);
    const auto found = of_kind(run, "outside_onednn");
    return found.empty() ? std::string() : found.front().text + " " + found.front().advice;
  };
  const result::OperatorRow slow{"aten::_slow_conv2d_forward", 66, 20e6, 20e6, {}};
  const result::OperatorRow back{"aten::_slow_conv2d_backward", 66, 30e6, 30e6, {}};
  const result::OperatorRow fast{"aten::mkldnn_convolution", 40, 10e6, 10e6, {}};
  expect_says(text_of({slow, back, fast}), "33 of 53 convolutions run outside oneDNN");
  expect_says(text_of({slow, back, fast}), "25.0 % of a profiled step");
  expect_says(text_of({slow, back, fast}), "use two threads");
  expect_says(text_of({slow, back}), ": convolutions run outside oneDNN");
  expect_says(text_of({back, fast}), ": convolutions run outside oneDNN");
  EXPECT_EQ(text_of({fast}), "");
  EXPECT_EQ(text_of({{"aten::_slow_conv2d_forward", 66, 19e6, 19e6, {}}, fast}), "") << "9.5 %";
}

TEST(TrainingFindings, CommunicationAndDataAreNamedWhereTheyCost) {
  auto run = training_run();
  // The wait for the straggler is no part of it.
  expect_says(only_text(run, "exposed_communication"), "resnet50 train fp32 b8 r4: 13.3");
  auto bare = run;  // without costs of steps: the straggler is taken to be the cause
  for (auto& one : bare.cases) one.training()->communication_share = Number::missing("no costs");
  EXPECT_TRUE(of_kind(bare, "exposed_communication").empty());
  for (auto& one : bare.cases) one.training()->straggler_rank = Count::missing("none");
  EXPECT_FALSE(of_kind(bare, "exposed_communication").empty());
  expect_says(only_text(run, "data_bound"), "r4: 6");
  expect_says(of_kind(run, "data_bound").front().evidence, "loaders could deliver 1600 images/s");
  expect_says(of_kind(run, "data_bound").front().advice, "share the CPUs");
  auto slow = run;
  for (auto& one : slow.cases) one.training()->loader_samples_per_s = *one.throughput.per_s.value;
  expect_says(of_kind(slow, "data_bound").front().advice, "Raise data.workers");
  expect_says(of_kind(run, "exposed_communication").front().evidence,
              "2 all-reduces a step in buckets (161 without");
}

TEST(TrainingFindings, ScalingIsPraisedOrWarnedOf) {
  const auto run = training_run();
  const auto good = only_text(run, "scaling");
  expect_says(good, "r2: 2 ranks give 1.9");
  expect_says(good, "efficiency 0.96");
  expect_says(only_text(run, "poor_scaling"), "4 ranks reach 0.7");
}

TEST(TrainingFindings, DdpItselfIsPriced) {
  auto run = training_run();
  expect_says(only_text(run, "ddp_cost"),
              "DDP itself costs nothing that counts with one rank (0.5 to 0.5 % of a step, 6 process pairs)");
  result::compare_to_baseline(run.cases[1], run.cases[0], 0.95, 0.001);
  expect_says(only_text(run, "ddp_cost"), "DDP itself costs 0.5 % of a step with one rank (0.5 to 0.5 %");
}

// The case's own baseline may be another one: what counts are the pairs of these two.
TEST(TrainingFindings, DdpIsPricedWhateverTheBaselineIs) {
  auto run = training_run();
  result::compare_to_baseline(run.cases[1], run.cases[2]);
  expect_says(only_text(run, "ddp_cost"), "DDP itself costs nothing that counts with one rank");
  run.cases[0].repetitions.resize(2);
  expect_says(only_text(run, "ddp_cost"), "cannot be claimed (fewer than six pairs of processes)");
  run = training_run();
  run.cases[0].grade = result::Grade::kC;
  expect_says(only_text(run, "ddp_cost"), "DDP itself costs nothing that counts with one rank");
}

TEST(TrainingFindings, MoreThanIdealIsDoubted) {
  const auto run =
      training_run({{.ranks = 1, .forward_ms = 60}, {.ranks = 2, .ddp = true, .forward_ms = 30}});
  expect_says(only_text(run, "superlinear"), "more than 2 times the work of 1");
  EXPECT_TRUE(of_kind(run, "scaling").empty());
}

TEST(TrainingFindings, UnevenSynchronisationIsNamed) {
  auto run = training_run({{.ranks = 2, .ddp = true, .exposed_ms = 10}});
  expect_says(only_text(run, "uneven_sync"), "p95/p50 2.00");
  run = training_run({{.ranks = 2, .ddp = true, .exposed_ms = 1}});
  EXPECT_TRUE(of_kind(run, "uneven_sync").empty());
}

TEST(TrainingFindings, AQuietRunHasNone) {
  const auto run = training_run({{.ranks = 1}});
  for (const char* id : {"straggler", "exposed_communication", "data_bound", "uneven_sync", "poor_scaling",
                         "superlinear", "scaling", "ddp_cost", "recommendation"})
    EXPECT_TRUE(of_kind(run, id).empty()) << id;
}

TEST(TrainingGates, EfficiencyAtFourIsDecidedOnItsInterval) {
  const auto run = training_run();
  const auto verdict = [&](const char* gate) { return decide_gates({gate}, run).front().verdict; };
  EXPECT_EQ(verdict("efficiency@4 >= 0.85"), answer::Verdict::kNo);
  EXPECT_EQ(verdict("efficiency@2 >= 0.90"), answer::Verdict::kYes);
  EXPECT_EQ(verdict("exposed_share@4 < 0.10"), answer::Verdict::kNo);
}

TEST(TrainingGates, EfficiencyThatNobodyMayClaimIsNotDecided) {
  auto run = training_run();
  for (auto& one : run.cases)
    if (one.scaling)
      one.scaling->ci_low = one.scaling->ci_high = Number::missing("fewer than six pairs of processes");
  const auto decided = decide_gates({"efficiency@2 >= 0.90"}, run).front();
  EXPECT_EQ(decided.verdict, answer::Verdict::kCannotSay);
  expect_says(decided.detail, "efficiency is missing: fewer than six pairs of processes");
}

TEST(TrainingWords, ACaseIsDescribedWithItsRanks) {
  EXPECT_EQ(describe_without(training_run().cases[2].benchmark, ""), "fp32 resnet50 at batch 8 on 2 ranks");
}

TEST(TrainingFindings, APowerCapIsNamedWithItsRankShareAndClock) {
  result::RunResult run;
  run.cases = {::paceline::testing::training_case({.ranks = 2})};
  EXPECT_TRUE(of_kind(run, "device_slowdown").empty());
  auto& evidence = run.cases[0].training()->ranks[1].evidence;
  evidence.device_mhz = 1961.25;
  evidence.device_slowdowns = {{"power cap", 0.5}};
  const auto found = of_kind(run, "device_slowdown");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "resnet50 train fp32 b8 r2: the GPU of rank 1 was at its power cap in "
            "50 % of the samples (mean clock 1961 MHz).");
  run.cases[0].devices = {result::device_states(run.cases[0]).at(0)};
  run.cases[0].devices[0].of_rank = false, run.cases[0].devices[0].device = "GPU-7a";  // a sampler's name
  EXPECT_TRUE(
      of_kind(run, "device_slowdown").at(0).text.starts_with("resnet50 train fp32 b8 r2: GPU-7a was"));
}

}  // namespace
}  // namespace paceline::analysis
