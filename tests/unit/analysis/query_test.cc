// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <functional>

#include "analysis/case_query.h"
#include "analysis/closing_sentence.h"
#include "analysis/cpu_features.h"
#include "analysis/metric_value.h"
#include "analysis/ratio_verdict.h"
#include "analysis/verdict.h"
#include "result/summarize.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using ::paceline::testing::sample_run;

TEST(CaseQuery, DifferingAxes) {
  const auto run = sample_run();
  EXPECT_TRUE(differing_axes(run.cases[0].benchmark, run.cases[0].benchmark).empty());
  EXPECT_EQ(differing_axes(run.cases[0].benchmark, run.cases[4].benchmark),
            (std::vector<std::string>{"precision", "batch"}));
  auto other = run.cases[0].benchmark;
  other.params["sequence_length"] = "128";
  EXPECT_EQ(differing_axes(run.cases[0].benchmark, other), std::vector<std::string>{"params"});
}

TEST(CaseQuery, BaselinesAreThoseOthersPointTo) {
  const auto run = sample_run();
  EXPECT_TRUE(is_baseline(run, run.cases[0]));
  EXPECT_FALSE(is_baseline(run, run.cases[1]));
}

TEST(CaseQuery, ARateIsWhatTheCaseCanDo) {
  auto one = sample_run().cases[0];
  one.throughput.item = "images";
  EXPECT_EQ(rate_words(one), "18.5 images/s (18.1–18.9)");
  EXPECT_EQ(p50_words(one), "p50 54.1 ms");
  one.benchmark.scenario = "server";  // its throughput is what was offered
  EXPECT_FALSE(rate_of(one).value);
  one.load.emplace_back().saturation_per_s = 120;
  EXPECT_EQ(rate_words(one), "120 requests/s at saturation");
  one.headline.p50_ns.value = result::Number::missing("not measured");
  EXPECT_EQ(p50_words(one), "p50 unknown");
}

TEST(CaseQuery, ListsAFewLabels) {
  const auto run = sample_run();
  EXPECT_EQ(list_labels({&run.cases[0], &run.cases[1], &run.cases[2]}, 2),
            "resnet50 eager fp32 b1, resnet50 torchscript fp32 b1 and 1 more");
}

TEST(CaseQuery, NeighbouringCasesAreARange) {
  auto run = sample_run();
  run.folder = "out/r1";
  std::vector<std::string> ids;
  for (const auto& one : run.cases) ids.push_back(one.case_id);
  EXPECT_EQ(rerun_command(run, ids), "paceline run --resume out/r1 --only 1-10");
  EXPECT_EQ(rerun_command(run, {ids[4], ids[1], ids[0], ids[2]}),
            "paceline run --resume out/r1 --only 1-3,5");
}

TEST(CaseQuery, OneIsBeatenOnlyWhereIntervalsLieApart) {
  auto run = sample_run();
  EXPECT_TRUE(beaten(run, run.cases[0]));   // torchscript is 11 % faster at the same batch
  EXPECT_FALSE(beaten(run, run.cases[1]));  // the fastest
  run.cases[1].headline.p50_ns.ci_high = 53.5e6;
  EXPECT_FALSE(beaten(run, run.cases[0]));  // the intervals overlap
  run = sample_run();
  run.cases[0].grade = result::Grade::kC;
  EXPECT_FALSE(beaten(run, run.cases[0]));
}

TEST(RatioVerdict, EqualityNeedsTheWholeIntervalWithinTheMargin) {
  auto run = sample_run();
  run.cases.resize(2);
  auto &a = run.cases[0], &b = run.cases[1];
  const auto judged = [&](double low, double value, double high) {
    a.throughput.per_s = {value, low, high, 0.95, ""};
    b.throughput.per_s = {20.0, 19.9, 20.1, 0.95, ""};
    return judge_ratio(run, {a, a.throughput.per_s}, {b, b.throughput.per_s}).standing;
  };
  EXPECT_EQ(judged(19.8, 20, 20.2), Standing::kEqual);
  EXPECT_EQ(judged(10, 20, 40), Standing::kOpen);
  EXPECT_EQ(judged(24, 25, 26), Standing::kMore);
  EXPECT_EQ(judged(14, 15, 16), Standing::kLess);
  b.grade = result::Grade::kC;
  EXPECT_EQ(judged(24, 25, 26), Standing::kNoClaim);
  b.grade = result::Grade::kA;
  a.headline.scope = result::kWithinProcess;
  EXPECT_EQ(judged(24, 25, 26), Standing::kNoClaim);
}

std::string sentence(const std::function<void(result::RunResult&)>& change) {
  auto run = sample_run();
  run.cases.resize(2);
  run.cases[1].benchmark.precision = "int8";
  change(run);
  return closing_sentence(run);
}

TEST(ClosingSentence, TwoCasesAreComparedInOne) {
  EXPECT_EQ(
      sentence([](auto& run) {
        run.cases[1].speedup.ratio = {3.71, 3.42, 4.08, 0.95, ""};
        ::paceline::testing::judge_by_answers(run.cases[1], 1, 32);
      }),
      "torchscript int8 is 3.7 times faster than eager fp32 (3.4–4.1), same answers on 31 of 32 inputs.");
  // Of two in fp32 the reference itself says nothing: the other's answers count, whichever is faster.
  for (const std::size_t other : {0U, 1U})
    EXPECT_NE(sentence([&](auto& run) {
                run.cases[1].benchmark.precision = "fp32";
                run.cases[1].speedup.ratio = {1.5, 1.4, 1.6, 0.95, ""};
                ::paceline::testing::judge_by_answers(run.cases[other], 3, 32);
                ::paceline::testing::judge_by_answers(run.cases[1 - other], 0, 32);
              }).find("same answers on 29 of 32 inputs"),
              std::string::npos)
        << other;
  EXPECT_EQ(sentence([](auto& run) {
              run.cases[1].speedup.ratio = {0.8, 0.75, 0.84, 0.95, ""};
              run.cases[1].speedup.verdict = "slower";
            }),
            "eager fp32 is 1.25 times faster than torchscript int8 (1.19–1.33).");
  EXPECT_EQ(sentence([](auto& run) { run.cases[1].speedup.verdict = "inconclusive"; }),
            "Which of torchscript int8 and eager fp32 is faster cannot be said (ratio 1.10–1.16).");
  EXPECT_EQ(sentence([](auto& run) {
              run.cases[1].speedup = {};
              run.cases[1].speedup.baseline_case_id = run.cases[0].case_id;
            }),
            "Which of torchscript int8 and eager fp32 is faster is not claimed: fewer than six pairs of "
            "processes (--repetitions 6 makes enough).");
}

// 99 % needs eight pairs.
TEST(ClosingSentence, TheAdviceHasTheRepetitionsThatTheConfidenceNeeds) {
  const auto text =
      sentence([](auto& run) { result::compare_to_baseline(run.cases[1], run.cases[0], 0.99); });
  EXPECT_NE(text.find("fewer than 8 pairs of processes (--repetitions 8 makes enough)"), std::string::npos)
      << text;
}

// Answers are compared with those of fp32 of the same model, so of nothing else they are not said to be
// equal.
TEST(ClosingSentence, AnswersAreOfOneModelAgainstFp32) {
  const auto answers = [](const std::function<void(result::RunResult&)>& change) {
    return sentence([&](auto& run) {
             run.cases[1].speedup.ratio = {3.71, 3.42, 4.08, 0.95, ""};
             ::paceline::testing::judge_by_answers(run.cases[1], 1, 32);
             change(run);
           }).find("same answers") != std::string::npos;
  };
  EXPECT_TRUE(answers([](auto&) {}));
  EXPECT_FALSE(answers([](auto& run) { run.cases[0].benchmark.precision = "bf16"; }));
  EXPECT_FALSE(answers([](auto& run) { run.cases[0].benchmark.model = "resnet18"; }));
}

TEST(ClosingSentence, RatesOfDifferentThingsAreNotCompared) {
  const auto other_work = [](auto& run) { run.cases[1].benchmark.batch_per_rank = 8; };
  EXPECT_NE(sentence(other_work), "");
  EXPECT_EQ(sentence([&](auto& run) {
              other_work(run);
              run.cases[1].throughput.item = "sequences";
            }),
            "");
}

TEST(ClosingSentence, RanksAreNamedAsRanks) {
  const auto text = sentence([](auto& run) {
    for (auto& one : run.cases) one.benchmark.kind = "training";
    run.cases[1].benchmark.world_size = 4;
  });
  EXPECT_NE(text.find("eager fp32 r1"), std::string::npos) << text;
  EXPECT_NE(text.find("torchscript int8 r4"), std::string::npos) << text;
}

TEST(ClosingSentence, OneCaseIsStatedAndMoreThanTwoAreNot) {
  EXPECT_EQ(sentence([](auto& run) { run.cases.resize(1); }),
            "resnet50 eager fp32 b1 takes 54.1 ms an inference (53.0 ms–55.2 ms), 18.5 images/s.");
  EXPECT_EQ(closing_sentence(sample_run()), "");
}

TEST(CpuFeatures, KnownAbsentAndUnknown) {
  const nlohmann::json list = {{"cpu", {{"flags", {"avx2", "amx_bf16"}}}}};
  EXPECT_EQ(cpu_has(list, "amx_bf16"), true);
  EXPECT_EQ(cpu_has(list, "amx"), false);
  EXPECT_EQ(cpu_has({{"cpu", {{"isa", "avx2 avx512_bf16"}}}}, "avx512_bf16"), true);
  EXPECT_EQ(cpu_has({{"cpu", {{"isa", nullptr}}}}, "avx2"), std::nullopt);
  EXPECT_EQ(cpu_has(nlohmann::json::object(), "avx2"), std::nullopt);
  EXPECT_EQ(missing_precision_support({{"cpu", {{"flags", {"avx512_bf16", "amx_bf16"}}}}}, "bf16"), "");
  EXPECT_EQ(missing_precision_support({{"cpu", {{"flags", {"avx512_bf16"}}}}}, "amp_bf16"),
            "this CPU has no AMX");
}

TEST(MetricValue, WhatDidNotRunHasNoZero) {
  const auto run = sample_run();
  const auto& samples = *result::find_metric("samples");
  EXPECT_EQ(metric_value(samples, run.cases[0]).value, 360);
  EXPECT_FALSE(metric_value(samples, run.cases[8]).value.has_value());
  EXPECT_EQ(metric_value(samples, run.cases[8]).reason, "case skipped");
}

TEST(Verdict, AnUnfinishedRunComesFirst) {
  auto run = sample_run();
  run.outcome = result::kUnfinished;
  run.folder = "out/r1";
  EXPECT_TRUE(
      verdict_sentence(run).starts_with("This run is unfinished (it was killed, or is still running): 8 of "
                                        "10 cases have all their repetitions. "
                                        "Go on with: paceline run --resume out/r1. "))
      << verdict_sentence(run);
}

TEST(MetricValue, KnowsWhichMetricsCarryIntervals) {
  for (const char* name : {"p50_ms", "p90_ms", "p95_ms", "p99_ms", "throughput_per_s", "speedup"})
    EXPECT_TRUE(carries_interval(*result::find_metric(name))) << name;
  for (const char* name : {"memory_mb", "mean_ms", "samples", "foreign_cpu_frac"})
    EXPECT_FALSE(carries_interval(*result::find_metric(name))) << name;
}

TEST(Verdict, OneSentenceWithTheBestAndTheCounts) {
  EXPECT_EQ(verdict_sentence(sample_run()),
            "resnet50 does 32.0 images/s with bf16 eager at batch 8 (2.05x its baseline, 1.99–2.11); "
            "vit_b_16 does 6.67 images/s "
            "with fp32 torchscript at batch 1 (1.05x its baseline, 1.02–1.08); 8 of 10 cases measured (7 of "
            "grade A, 1 of grade B).");
  RunResult faulty = sample_run();
  for (auto& one : faulty.cases)
    if (one.benchmark.model == "vit_b_16") one.benchmark.params["inject"] = "slow=1ms:rank=0";
  EXPECT_EQ(verdict_sentence(faulty).find("vit_b_16"), std::string::npos);
  std::erase_if(faulty.cases, [](const auto& one) { return one.benchmark.model != "vit_b_16"; });
  EXPECT_NE(verdict_sentence(faulty).find("vit_b_16 does"), std::string::npos) << "there is no other case";
  EXPECT_EQ(verdict_sentence({}), "No case gave a valid number; 0 of 0 cases measured.");
}

}  // namespace
}  // namespace paceline::analysis
