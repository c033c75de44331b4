// SPDX-License-Identifier: MIT
#include "cli/tune/tune_request.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"

namespace paceline::cli {
namespace {

TEST(TuneRequest, LimitsOnPercentilesAreGatesInMilliseconds) {
  for (const auto* text : {"p99<=20ms", "p99 <= 20ms", "p99=20ms", "p99 <= 20000us"}) {
    const auto limit = parse_limit("--slo", text);
    EXPECT_EQ(limit.gate->metric, "p99_ms");
    EXPECT_EQ(limit.gate->op, "<=");
    EXPECT_NEAR(limit.gate->bound, 20, 1e-9) << text;
    EXPECT_EQ(limit.written, text);
  }
  EXPECT_EQ(parse_limit("--slo", "memory_mb <= 500").gate->metric, "memory_mb");
  EXPECT_THROW(parse_limit("--slo", "p42<=1ms"), Error);
  EXPECT_THROW(parse_limit("--slo", "p99<=20"), Error);
}

TEST(TuneRequest, SeparatesItsOptionsFromThoseOfInfer) {
  const auto request =
      tune_request({"--model", "net.onnx", "--objective", "p99", "--slo", "p99<=20ms", "--min-accuracy",
                    "top1>=-0.5%", "--budget", "90s", "--batch", "1,2", "--axes", "engine,batch"});
  EXPECT_EQ(request.words, (std::vector<std::string>{"--model", "net.onnx", "--batch", "1,2"}));
  EXPECT_EQ(request.objective->name, "p99");
  EXPECT_EQ(request.limits.size(), 2U);
  EXPECT_NEAR(*request.most_top1_change, 0.005, 1e-12);
  EXPECT_EQ(request.budget_s, 90);
  EXPECT_EQ(request.axes, (std::vector<std::string>{"engine", "batch"}));
}

std::string refusal_of(const std::vector<std::string>& words) {
  try {
    tune_request(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    return error.what();
  }
  return {};
}

TEST(TuneRequest, TheCommandInFrontDecidesTheDefaults) {
  const auto plain = tune_request({"--model", "x"}), named = tune_request({"infer", "--model", "x"}),
             train = tune_request({"train", "--model", "x"});
  EXPECT_EQ(plain.objective, named.objective);
  EXPECT_EQ(plain.words, named.words);
  EXPECT_FALSE(plain.names_kind);
  EXPECT_EQ(plain.budget_s, 180);
  EXPECT_EQ(train.kind, WorkloadKind::kTraining);
  EXPECT_EQ(train.words, plain.words);
  EXPECT_EQ(train.objective->name, "throughput");
  EXPECT_EQ(train.budget_s, 900);
  EXPECT_EQ(tune_request({"train", "--objective", "latency"}).objective->words, "median step time");
}

TEST(TuneRequest, WhatAKindDoesNotHaveIsRefused) {
  EXPECT_EQ(refusal_of({"train", "--objective", "p99"}),
            "--objective p99: a search of train can optimise throughput, latency, memory, energy");
  EXPECT_NE(
      refusal_of({"train", "--min-accuracy", "top1>=-1%"}).find("--min-accuracy top1>=-1%: the few steps"),
      std::string::npos);
  EXPECT_EQ(refusal_of({"comm"}),
            "tune comm: a search is about infer or train; compare cases of comm with paceline compare comm");
}

result::CaseResult measured_case() {
  result::CaseResult one;
  one.stats.quantiles.push_back(
      {0.99, Number(24e6), Number(23e6), Number(25e6), 0.95, "binomial_neff", Number(0.95), Number(1000)});
  one.repetitions.resize(2);
  one.repetitions[0].index = 0, one.repetitions[0].p50_ns = Number(5e6);
  one.repetitions[1].index = 1, one.repetitions[1].p50_ns = Number(6e6);
  return one;
}

TEST(TuneRequest, AnOutcomeHasTheCostOfOneProcessAndTheLimitsOfAll) {
  const auto one = measured_case();
  const auto outcome = outcome_of(tune_request({"--slo", "p99<=20ms"}), {&one, nullptr, nullptr}, 1);
  EXPECT_EQ(outcome.cost, Number(6e6));
  ASSERT_EQ(outcome.constraints.size(), 1U);
  EXPECT_EQ(outcome.constraints[0].verdict, answer::Verdict::kNo);
  EXPECT_NEAR(*outcome.constraints[0].excess, 0.2, 1e-9);
  EXPECT_NE(outcome.constraints[0].value.find("24"), std::string::npos);
  const auto wide = outcome_of(tune_request({"--slo", "p99<=24ms"}), {&one, nullptr, nullptr}, 1);
  EXPECT_EQ(wide.constraints[0].verdict, answer::Verdict::kCannotSay);
}

std::vector<result::Sample> samples_with(std::uint32_t flags, int n) {
  std::vector<result::Sample> samples(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    samples[static_cast<std::size_t>(i)].host_ns = 1000 + i,
    samples[static_cast<std::size_t>(i)].flags = flags;
  return samples;
}

TEST(TuneRequest, MeansOfSeveralInferencesHaveNoPercentile) {
  auto one = measured_case();
  const auto single = samples_with(0, 100), batched = samples_with(result::kSampleBatched, 100),
             blocks = samples_with(result::kSamplePipelined, 100), few = samples_with(0, 99);
  const auto p99 = tune_request({"--objective", "p99"}), p90 = tune_request({"--objective", "p90"});
  EXPECT_EQ(outcome_of(p99, {&one, &single, nullptr}, 0).cost, Number(1098));
  EXPECT_EQ(outcome_of(p90, {&one, &few, nullptr}, 0).cost, Number(1089));
  for (const auto* samples : {&batched, &blocks, &few})
    EXPECT_FALSE(outcome_of(p99, {&one, samples, nullptr}, 0).cost);
  EXPECT_NE(outcome_of(p90, {&one, &batched, nullptr}, 0).cost.reason().find("--timing-mode sync_latency"),
            std::string::npos);
  one.benchmark.timing_mode = "pipelined";
  EXPECT_FALSE(outcome_of(tune_request({}), {&one, &blocks, nullptr}, 0).cost);
}

TEST(TuneRequest, PercentilesNeedTheirSamples) {
  EXPECT_EQ(samples_for_percentiles(tune_request({"--slo", "p50<=20ms"})), 0);
  EXPECT_EQ(samples_for_percentiles(tune_request({"--objective", "p90"})), 10);
  EXPECT_EQ(samples_for_percentiles(tune_request({"--objective", "p90", "--slo", "p95<=20ms"})), 20);
  EXPECT_EQ(samples_for_percentiles(tune_request({"--min-accuracy", "p99_ms <= 3"})), 100);
}

TEST(TuneRequest, AnExcessIsAShareOfTheLimit) {
  auto one = measured_case();
  one.correctness.top1.value = Number(0.6);
  const auto outcome =
      outcome_of(tune_request({"--min-accuracy", "top1_agreement >= 0.8"}), {&one, nullptr, nullptr}, 1);
  EXPECT_NEAR(*outcome.constraints[0].excess, 0.25, 1e-9);
}

TEST(TuneRequest, OnlyFiguresOfTheCheckAreExact) {
  const auto request = tune_request({"--min-accuracy", "p50_ms <= 3", "--min-accuracy", "max_rel_err <= 0.1",
                                     "--slo", "p99<=20ms", "--slo", "top1_agreement >= 0.9"});
  std::map<std::string, bool> exact;
  for (const auto& limit : request.limits) exact[limit.written] = limit.is_exact;
  EXPECT_EQ(exact, (std::map<std::string, bool>{{"p50_ms <= 3", false},
                                                {"max_rel_err <= 0.1", true},
                                                {"p99<=20ms", false},
                                                {"top1_agreement >= 0.9", true}}));
}

TEST(TuneRequest, ALimitOnAccuracyIsTheClaimOfTheCheck) {
  auto one = measured_case();
  const auto request = tune_request({"--min-accuracy", "top1>=-1%"});
  EXPECT_EQ(outcome_of(request, {&one, nullptr, nullptr}, 0).constraints[0].verdict,
            answer::Verdict::kCannotSay);
  auto& claim = one.correctness.claim;
  claim.verdict = answer::Verdict::kNo, claim.limit = Number(0.01), claim.bound = Number(0.04);
  const auto outcome = outcome_of(request, {&one, nullptr, nullptr}, 0);
  EXPECT_EQ(outcome.constraints[0].verdict, answer::Verdict::kNo);
  EXPECT_TRUE(outcome.constraints[0].exact);
  EXPECT_NEAR(*outcome.constraints[0].excess, 0.03, 1e-12);
}

TEST(TuneRequest, TheCostOfTrainingIsTheTimePerSample) {
  auto one = measured_case();
  one.repetitions[1].mean_ns = Number(6.4e6);
  EXPECT_EQ(outcome_of(tune_request({"train"}), {&one, nullptr, nullptr, 64}, 1).cost, Number(1e5));
  EXPECT_FALSE(outcome_of(tune_request({"train"}), {&one, nullptr, nullptr, 64}, 0).cost);
  EXPECT_EQ(outcome_of(tune_request({"train", "--objective", "latency"}), {&one}, 1).cost, Number(6e6));
}

TEST(TuneRequest, AFailedCaseIsAFailedArm) {
  result::CaseResult one;
  one.outcome = result::Outcome::kFailed;
  one.reason = "killed", one.reason_code = "crash";
  const auto outcome = outcome_of(tune_request({}), {&one, nullptr, nullptr}, 0);
  EXPECT_EQ(outcome.failed, "killed");
  EXPECT_FALSE(outcome.cost);
}

}  // namespace
}  // namespace paceline::cli
