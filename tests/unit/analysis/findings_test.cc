// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/case_query.h"
#include "analysis/finding_table.h"
#include "result/figures/summarize.h"
#include "support/sample_runs.h"
#include "unit/analysis/findings_of.h"

namespace paceline::analysis {
namespace {

using ::paceline::testing::case_of;
using ::paceline::testing::sample_run;
using result::Finding;
using result::RunResult;

bool says(const Finding& finding, const std::string& words) {
  return finding.text.find(words) != std::string::npos;
}

TEST(Findings, RulesHaveDistinctIdsAndKnownSeverities) {
  std::vector<std::string> ids;
  for (const FindingRule& rule : finding_rules()) {
    ids.emplace_back(rule.id);
    EXPECT_TRUE(rule.severity == "problem" || rule.severity == "warning" || rule.severity == "advice" ||
                rule.severity == "insight");
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST(Findings, QuietRunOnlyRecommends) {
  const auto found = find_all(quiet_run());
  ASSERT_EQ(found.size(), 3U);
  for (const auto& one : found) EXPECT_EQ(one.id, "recommendation");
  EXPECT_TRUE(says(found[0], "not told apart from")) << found[0].text;
}

TEST(Findings, MemoryIsThatOfTheDeviceAndNeverComparedWithTheHosts) {
  auto run = quiet_run();
  for (auto& one : run.cases) {
    one.benchmark.device = "cuda:0";
    one.memory.tensor_peak_bytes = 490'000'000;
    for (auto& r : one.repetitions) r.memory.tensor_peak_bytes = one.memory.tensor_peak_bytes;
  }
  const auto smallest = [](const RunResult& r) {
    std::string texts;
    for (const auto& one : of_kind(r, "recommendation"))
      if (says(one, "Smallest")) texts += one.text;
    return texts;
  };
  EXPECT_NE(smallest(run).find("490 MB of GPU memory"), std::string::npos) << smallest(run);
  run.cases[1].benchmark.device.clear();
  EXPECT_EQ(smallest(run), "");
  EXPECT_TRUE(of_kind(run, "memory_saving").empty());
}

TEST(Findings, EmptyRunFindsNothing) {
  EXPECT_TRUE(find_all(RunResult{}).empty());
}

TEST(Findings, PrecisionSpeedUpAtTheSameBatch) {
  const auto found = of_kind(sample_run(), "precision_speedup");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "bf16 makes eager resnet50 at batch 8 2.05x as fast as fp32 (1.99–2.11, 6 process pairs), with "
            "18 % less memory.");
  EXPECT_NE(found[0].evidence.find("p50 250 ms against 512 ms"), std::string::npos) << found[0].evidence;
  EXPECT_NE(found[0].evidence.find("bf16 ran 100 % of the FLOPs in 53 operators"), std::string::npos);
  EXPECT_NE(found[0].evidence.find("centred cosine 0.995"), std::string::npos);
  EXPECT_EQ(found[0].about, (std::vector<std::string>{"resnet50-eager-bf16-b8", "resnet50-eager-fp32-b8"}));
}

TEST(Findings, PrecisionSlowdownNamesTheMissingCpuFeature) {
  const auto found = of_kind(sample_run(), "precision_slowdown");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "bf16 is 0.60x of fp32 for eager resnet50 at batch 1 here (0.58–0.62, 6 process pairs): slower; "
            "this CPU has no AMX.");
  EXPECT_EQ(found[0].advice, "Use fp32 or int8 on this machine.");
}

TEST(Findings, PrecisionSlowdownGuessesNothingWithoutCpuFlags) {
  RunResult run = sample_run();
  run.environment = nlohmann::json::object();
  const auto found = of_kind(run, "precision_slowdown");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(says(found[0], "AMX"));
  EXPECT_EQ(found[0].advice, "Use fp32 on this machine.");
}

TEST(Findings, EngineSpeedUpInPercentStrongestFirst) {
  const auto found = of_kind(sample_run(), "engine_speedup");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].text,
            "torchscript makes fp32 resnet50 at batch 1 13 % faster than eager (10–16 %, 6 process pairs).");
  EXPECT_TRUE(says(found[1], "vit_b_16")) << found[1].text;
}

TEST(Findings, EngineSlowdown) {
  RunResult run = quiet_run();
  EXPECT_TRUE(of_kind(run, "engine_slowdown").empty());
  run.cases[1].speedup.ratio = {0.8, 0.75, 0.85, 0.95, "binomial_processes"};
  run.cases[1].speedup.verdict = result::Speed::kSlower;
  const auto found = of_kind(run, "engine_slowdown");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0],
                   "torchscript is 0.80x of eager for fp32 resnet50 at batch 1 here (0.75–0.85, 6 process "
                   "pairs): slower"));
}

TEST(Findings, LayoutEffect) {
  const auto found = of_kind(sample_run(), "setting_effect");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0],
                   "channels_last makes fp32 eager resnet50 at batch 8 25 % faster than contiguous (21–29 %"))
      << found[0].text;
}

TEST(Findings, ThreadsAndVariablesAreSettingsToo) {
  RunResult run = quiet_run();
  run.cases[1].benchmark.engine = "eager";
  run.cases[1].benchmark.threads = 1;
  run.cases[0].benchmark.threads = 2;
  run.cases[1].speedup.ratio = {0.8, 0.75, 0.85, 0.95, "binomial_processes"};
  run.cases[1].speedup.verdict = result::Speed::kSlower;
  auto found = of_kind(run, "setting_effect");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "1 thread is 0.80x of 2 threads for fp32 eager resnet50 at batch 1 here"))
      << found[0].text;
  run.cases[1].benchmark.threads = 2;
  run.cases[0].benchmark.params["env.X"] = "5";
  run.cases[1].benchmark.params["env.X"] = "7";
  found = of_kind(run, "setting_effect");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "env.X=7 is 0.80x of env.X=5 for")) << found[0].text;
}

struct Doubt {
  const char* why;
  void (*spoil)(result::SpeedUp&);
};

class NoClaim : public ::testing::TestWithParam<Doubt> {};

TEST_P(NoClaim, NeverSaysFasterOrSlower) {
  RunResult run = sample_run();
  for (auto& one : run.cases) GetParam().spoil(one.speedup);
  for (const Finding& finding : find_all(run)) {
    EXPECT_FALSE(says(finding, "faster")) << GetParam().why << ": " << finding.text;
    EXPECT_FALSE(says(finding, "slower")) << GetParam().why << ": " << finding.text;
    EXPECT_FALSE(says(finding, "as fast as")) << GetParam().why << ": " << finding.text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Doubts, NoClaim,
    ::testing::Values(Doubt{"within one process", [](result::SpeedUp& s) { s.scope = "within_process"; }},
                      Doubt{"five pairs", [](result::SpeedUp& s) { s.pairs = 5; }},
                      Doubt{"no interval", [](result::SpeedUp& s) { s.ratio.ci_low = {}; }},
                      Doubt{"interval holds 1",
                            [](result::SpeedUp& s) {
                              s.ratio.ci_low = 0.5;
                              s.ratio.ci_high = 2.5;
                            }},
                      Doubt{"inconclusive",
                            [](result::SpeedUp& s) { s.verdict = result::Speed::kInconclusive; }}));

// As above, but processes that allow a direction and nothing else.
TEST(Findings, NoSizeIsSaidWhereProcessesAllowNone) {
  RunResult run = sample_run();
  for (auto& one : run.cases) {
    auto& s = one.speedup;
    s.no_size = "the times of the processes differ too much";
    s.ratio.value = s.ratio.ci_low = s.ratio.ci_high = Number::missing(s.no_size);
  }
  EXPECT_TRUE(of_kind(run, "no_claim").empty());
  const auto faster = of_kind(run, "precision_speedup");
  ASSERT_EQ(faster.size(), 1U);
  EXPECT_EQ(
      faster[0].text,
      "bf16 makes eager resnet50 at batch 8 faster than fp32 (6 process pairs); by how much cannot be said "
      "on this machine now: the times of the processes differ too much, with 18 % less memory.");
  const auto slower = of_kind(run, "precision_slowdown");
  ASSERT_EQ(slower.size(), 1U);
  EXPECT_TRUE(says(slower[0],
                   "bf16 is slower than fp32 for eager resnet50 at batch 1 here (6 process pairs); by "
                   "how much cannot be said"))
      << slower[0].text;
  for (auto& one : run.cases)
    one.speedup.verdict = result::Speed::kNoClaim, one.speedup.reason = one.speedup.no_size;
  const auto none = of_kind(run, "no_claim");
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].advice, "Measure again while other processes leave the CPUs alone.");
}

TEST(Findings, WithinOneProcessIsSaidOnceWithTheWayOut) {
  RunResult run = sample_run();
  EXPECT_TRUE(of_kind(run, "no_claim").empty());
  for (auto& one : run.cases)
    one.speedup.scope = "within_process", one.speedup.reason = "fewer than six pairs of processes";
  const auto found = of_kind(run, "no_claim");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0],
                   "No claim about the speed-ups over their baseline: fewer than six pairs of processes: "
                   "resnet50 torchscript fp32 b1"))
      << found[0].text;
  EXPECT_NE(found[0].advice.find("--repetitions 6"), std::string::npos);
  for (auto& one : run.cases) one.speedup.ratio.confidence = 0.99;  // eight pairs make an interval
  const auto strict = of_kind(run, "no_claim");
  ASSERT_EQ(strict.size(), 1U);
  EXPECT_NE(strict[0].advice.find("--repetitions 8"), std::string::npos) << strict[0].advice;
  EXPECT_NE(strict[0].evidence.find("needs 8 pairs"), std::string::npos) << strict[0].evidence;
}

TEST(Findings, BatchScalingSaysWhatIsGainedAndTheShareOfPeak) {
  const auto found = of_kind(sample_run(), "batch_scaling");
  ASSERT_EQ(found.size(), 2U);
  const auto& bf16 = says(found[0], "bf16") ? found[0] : found[1];
  const auto& fp32 = says(found[0], "bf16") ? found[1] : found[0];
  EXPECT_TRUE(says(
      bf16, "Batch 8 against batch 1 of bf16 eager resnet50: 32.0 images/s (31.4–32.7) and 11.1 images/s"))
      << bf16.text;
  EXPECT_TRUE(says(bf16, "2.88x the throughput (2.88–2.93); compute-bound, 50 % of")) << bf16.text;
  EXPECT_TRUE(
      says(fp32, "it loses throughput, to 0.84 of it (0.84–0.86); 49 % of this machine's measured peak"))
      << fp32.text;
}

TEST(Findings, BatchScalingWithinOneProcessClaimsNothing) {
  RunResult run = sample_run();
  for (auto& one : run.cases) one.repetitions.resize(std::min<std::size_t>(one.repetitions.size(), 5));
  for (const Finding& finding : of_kind(run, "batch_scaling"))
    EXPECT_TRUE(says(finding, "no claim")) << finding.text;
}

TEST(Findings, NoGainIsSaidOnlyWhereTheRatioIsWithinTheMargin) {
  RunResult run = quiet_run();
  run.cases[1] = case_of({"resnet50", "eager", "fp32", 8, 401, 300});
  auto found = of_kind(run, "batch_scaling");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "no gain in throughput: the two are equal within 5 % (ratio 0.99–1.01)"))
      << found[0].text;
  ::paceline::testing::pair_with(run.cases[1], run.cases[0], 0.8, 1, 1.25);
  found = of_kind(run, "batch_scaling");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(says(found[0], "no gain")) << found[0].text;
  EXPECT_TRUE(says(found[0], "whether it gains throughput cannot be said (ratio ")) << found[0].text;
}

TEST(Findings, BatchScalingOfGradeCIsClaimedByItsPairs) {
  RunResult run = sample_run();
  for (auto& one : run.cases) {
    one.grade = result::Grade::kC;
    one.flops.share_of_measured_peak = 0.7;
  }
  const auto found = of_kind(run, "batch_scaling");
  ASSERT_EQ(found.size(), 2U);
  for (const Finding& finding : found) {
    EXPECT_FALSE(says(finding, "no claim")) << finding.text;
  }
}

// One side was measured again, alone and later: what the two say of each other is no claim.
TEST(Findings, CasesThatDidNotRunInTurnsClaimNothing) {
  RunResult run = quiet_run();
  run.cases[1] = case_of({"resnet50", "eager", "fp32", 8, 401, 300});
  for (int i = 0; i < 6; ++i) {
    run.cases[0].repetitions[static_cast<std::size_t>(i)].started_utc =
        "2026-11-21T01:0" + std::to_string(i) + ":00Z";
    run.cases[1].repetitions[static_cast<std::size_t>(i)].started_utc =
        "2026-11-21T05:0" + std::to_string(i) + ":00Z";
  }
  EXPECT_TRUE(says(of_kind(run, "batch_scaling").at(0),
                   "no claim: 6 of 6 repetitions of the two cases did not run as"));
  EXPECT_TRUE(says(of_kind(run, "recommendation").at(0), "no claim: not all of them ran in turns"));
  run.cases[1].speedup = {};
  run.cases[1].speedup.baseline_case_id = run.cases[0].case_id;
  run.cases[1].speedup.pairs_apart = 6;
  run.cases[1].speedup.reason = "6 of 6 repetitions did not run as neighbours";
  const auto found = of_kind(run, "no_claim");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].advice,
            "Measure both sides together: paceline run --resume results/quiet/r1 --only 1-2");
}

TEST(Findings, AdvisesNoRepetitionThatEndsTheSameWay) {
  RunResult run = quiet_run();
  auto& one = run.cases[0];
  one.outcome = result::Outcome::kFailed;
  one.reason_code = "error";
  one.benchmark.kind = WorkloadKind::kTraining;
  one.reason = "training has diverged; lower the learning rate";
  EXPECT_EQ(of_kind(run, "failed_cases").at(0).advice, "");
  one.benchmark.kind = WorkloadKind::kInference;
  one.reason = "words that decide nothing";
  EXPECT_NE(of_kind(run, "failed_cases").at(0).advice, "");
  one.lacks_reference = true;
  EXPECT_EQ(of_kind(run, "failed_cases").at(0).advice, "");
  one.reason_code = "accuracy";
  EXPECT_EQ(of_kind(run, "accuracy_failure").at(0).advice, "");  // fp32: no other precision mends it
  one.benchmark.precision = "int8";
  one.config_effective["accuracy.reference"] = "eager";  // what every plan without the key has
  EXPECT_NE(of_kind(run, "accuracy_failure").at(0).advice, "");
  for (const char* file : {"expected.npy", "out/expected", "logits:expected"}) {
    one.config_effective["accuracy.reference"] = file;
    EXPECT_EQ(of_kind(run, "accuracy_failure").at(0).advice, "") << file;
  }
}

TEST(Findings, ACaseThatWasNotReachedIsNotMeasured) {
  RunResult run = quiet_run();
  result::mark_not_measured(run.cases[1]);
  const auto found = of_kind(run, "skipped_cases");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].text.starts_with("1 case not measured: the run ended before")) << found[0].text;
}

TEST(Findings, RecommendsForEachModelAndGoal) {
  const auto found = of_kind(sample_run(), "recommendation");
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[0].text,
            "Lowest latency for resnet50: fp32 torchscript at batch 1, p50 47.9 ms (46.9–48.9 ms).");
  EXPECT_EQ(found[1].text,
            "Highest throughput for resnet50: bf16 eager at batch 8, 32.0 images/s (31.4–32.7); its answers: "
            "centred "
            "cosine 0.995 to FP32 over 64 inputs; with FP32's answers: fp32 "
            "torchscript at batch 1, "
            "20.9 images/s (20.5–21.3).");
  EXPECT_TRUE(says(found[2], "Smallest for resnet50: bf16 eager at batch 1, 280 MB in memory"))
      << found[2].text;
}

// Blocks of inferences have a rate and no latency.
TEST(Findings, RecommendsABlockForItsThroughputAlone) {
  RunResult run = sample_run();
  for (auto& one : run.cases) {
    if (one.benchmark.model != "resnet50" || one.benchmark.engine != "torchscript") continue;
    one.back_to_back_ns = one.headline.p50_ns;
    auto& p50 = one.headline.p50_ns;
    p50.value = p50.ci_low = p50.ci_high = Number::missing("pipelined");
    for (auto* rate :
         {&one.throughput.per_s.value, &one.throughput.per_s.ci_low, &one.throughput.per_s.ci_high})
      *rate = 100.0;
  }
  const auto found = of_kind(run, "recommendation");
  EXPECT_TRUE(says(found.at(0), "Lowest latency for resnet50: ")) << found[0].text;
  EXPECT_FALSE(says(found.at(0), "fp32 torchscript at batch")) << found[0].text;
  EXPECT_TRUE(says(found.at(1), "Highest throughput for resnet50: fp32 torchscript")) << found[1].text;
}

TEST(Findings, RecommendationSaysWhatAnswersCost) {
  RunResult run = sample_run();
  for (auto& one : run.cases) {
    if (one.benchmark.precision != "bf16") continue;
    one.correctness.checked = true;
    one.correctness.samples = 64;
    one.correctness.centred_cosine = 0.987;
    one.correctness.top1_agreement = 63.0 / 64;
    one.correctness.judged_by = "answers";
  }
  const auto found = of_kind(run, "recommendation");
  EXPECT_TRUE(says(found[1], "centred cosine 0.987 to FP32, same top-1 in 98.4 % over 64 inputs"))
      << found[1].text;
  EXPECT_TRUE(says(found[1], "with FP32's answers: ")) << found[1].text;
}

TEST(Findings, RecommendationCountsCasesOfGradeC) {
  RunResult run = sample_run();
  for (auto& one : run.cases)
    if (one.benchmark.precision == "bf16") one.grade = result::Grade::kC;
  const auto found = of_kind(run, "recommendation");
  EXPECT_TRUE(says(found.at(1), "bf16 eager at batch 8")) << found.at(1).text;
  EXPECT_FALSE(says(found.at(1), "left out")) << found.at(1).text;
}

TEST(Findings, MemorySavingWithTheRangeOverProcesses) {
  const auto found = of_kind(sample_run(), "memory_saving");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "resnet50 eager bf16 b8 needs 18 % less memory than resnet50 eager fp32 b8 (18–19 % over the "
            "processes).");
}

TEST(Findings, TheMemoryOfOneProcessIsNoSaving) {
  RunResult run = sample_run();
  for (auto& one : run.cases)
    for (auto& repetition : one.repetitions)
      if (repetition.index > 0) repetition.memory.rss_peak_above_load_bytes = Count::missing("not told");
  EXPECT_TRUE(of_kind(run, "memory_saving").empty());
}

TEST(Findings, OverlappingMemoryIsNoSaving) {
  RunResult run = sample_run();
  for (auto& one : run.cases)
    for (auto& repetition : one.repetitions)
      repetition.memory.rss_peak_above_load_bytes = repetition.index % 2 == 0 ? 300'000'000 : 700'000'000;
  EXPECT_TRUE(of_kind(run, "memory_saving").empty());
}

TEST(Findings, MeasuringAgainIsAdvisedOnlyWhereItCanHelp) {
  const auto advice = [](const std::string& code) {
    RunResult run = quiet_run();
    run.cases[0].outcome = result::Outcome::kFailed;
    run.cases[0].reason_code = code;
    run.cases[0].reason = "why";
    const auto found = of_kind(run, "failed_cases");
    return found.empty() ? "" : found.front().advice;
  };
  EXPECT_EQ(advice("crash").find("Measure again with: paceline run --resume"), 0U);
  EXPECT_EQ(advice("hung").find("Measure again with: "), 0U);
  EXPECT_EQ(advice("config"),
            "Change the option that the reason names, and start a new run; --resume keeps the options as "
            "they were.");
  EXPECT_EQ(advice("threads").find("--resume"), std::string::npos);
  EXPECT_EQ(advice("data").find("Fix what the reason names, then measure again with: paceline run --resume"),
            0U);
}

TEST(Findings, AReasonThatEndsInAQuestionIsASentence) {
  RunResult run = quiet_run();
  run.cases[0].outcome = result::Outcome::kFailed;
  run.cases[0].reason_code = "data";
  run.cases[0].reason = "was the file made with another tokenizer?";
  EXPECT_TRUE(of_kind(run, "failed_cases").at(0).text.ends_with("another tokenizer?"));
  run.cases[0].reason = "it ends early";
  EXPECT_TRUE(of_kind(run, "failed_cases").at(0).text.ends_with("it ends early."));
}

TEST(Findings, GradesAreNamedWithTheirReasonAndACommand) {
  const RunResult run = sample_run();
  const auto noisy = of_kind(run, "noisy_cases");
  ASSERT_EQ(noisy.size(), 1U);
  EXPECT_EQ(noisy[0].text, "1 case of grade B: vit_b_16 torchscript fp32 b1.");
  EXPECT_EQ(noisy[0].evidence, "vit_b_16 torchscript fp32 b1: foreign CPU 6 %");
  EXPECT_EQ(noisy[0].advice,
            "Measure again with: paceline run --resume results/quickstart/20261121T014500Z-7f3a --only "
            "7-8");
  EXPECT_TRUE(of_kind(run, "invalid_cases").empty());
}

TEST(Findings, TrainingThatHasDoneItsEpochsIsNotMeasuredAgain) {
  RunResult run = quiet_run();
  for (auto& one : run.cases) one.grade = result::Grade::kC;
  run.cases[0].config_effective = {{"checkpoint.resume", true}, {"training.epochs", 1}};
  const auto advice = [&] { return of_kind(run, "invalid_cases").at(0).advice; };
  EXPECT_TRUE(advice().ends_with(" --only 2")) << advice();
  run.cases[1].config_effective = run.cases[0].config_effective;
  EXPECT_EQ(advice(),
            "The training has left its checkpoints, so that the same again would measure nothing: start a "
            "new run with another --checkpoint.dir.");
  run.cases[0].config_effective.erase("training.epochs");  // steps alone: there are always more
  EXPECT_TRUE(advice().ends_with(" --only 1")) << advice();
  run.cases[0].config_effective = {{"checkpoint.dir", "kept"}};  // refused without checkpoint.resume
  EXPECT_TRUE(advice().starts_with("The training has left its checkpoints")) << advice();
}

TEST(Findings, UnfinishedTrainingGoesOnFromItsCheckpoints) {
  RunResult run = quiet_run();
  run.outcome = "interrupted";
  EXPECT_FALSE(unfinished_text(run).ends_with("--checkpoint.resume"));
  run.cases[0].config_effective = {{"checkpoint.dir", "kept"}};
  run.cases[0].complete = false;
  EXPECT_TRUE(unfinished_text(run).ends_with(" --checkpoint.resume")) << unfinished_text(run);
  run.cases[1].benchmark.kind = WorkloadKind::kTraining;  // keeps none: the option would be refused
  EXPECT_FALSE(unfinished_text(run).ends_with("--checkpoint.resume")) << unfinished_text(run);
  run.cases[1].benchmark.kind = WorkloadKind::kInference;
  run.cases[0].config_effective["checkpoint.resume"] = true;
  EXPECT_FALSE(unfinished_text(run).ends_with("--checkpoint.resume"));
}

TEST(Findings, GradeCIsAProblem) {
  RunResult run = quiet_run();
  run.cases[0].grade = result::Grade::kC;
  const auto found = of_kind(run, "invalid_cases");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, "problem");
}

TEST(Findings, NotConverged) {
  RunResult run = sample_run();
  EXPECT_TRUE(of_kind(run, "not_converged").empty());  // six processes: their spread gives the interval
  for (auto& one : run.cases) one.headline.scope = result::kWithinProcess;
  const auto found = of_kind(run, "not_converged");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].evidence, "unmet: p50 half-width 2.4 % > 2 %");
  EXPECT_EQ(found[0].advice.find("--repetitions"), std::string::npos)
      << found[0].advice;  // six were asked for
  EXPECT_NE(found[0].advice.find("paceline run --resume"), std::string::npos) << found[0].advice;
  for (auto& one : run.cases) one.repetitions_planned = 3;
  EXPECT_NE(of_kind(run, "not_converged")[0].advice.find(" --repetitions 6."), std::string::npos);
}

TEST(Findings, FixedIterationCountsAreNotUnconverged) {
  RunResult run = quiet_run();
  for (auto& repetition : run.cases[0].repetitions)
    repetition.converged = Maybe<bool>::missing("fixed count");
  EXPECT_TRUE(of_kind(run, "not_converged").empty());
}

TEST(Findings, ProcessSpreadMuchLargerThanWithin) {
  RunResult run = quiet_run();
  run.cases[0].headline.between_spread = 0.09;
  run.cases[0].headline.within_spread = 0.01;
  const auto found = of_kind(run, "process_spread");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "resnet50 eager fp32 b1 differs 9.0 % from process to process, but only 1.0 % within one.");
  run.cases[0].headline.within_spread = 0.05;
  EXPECT_TRUE(of_kind(run, "process_spread").empty());
}

TEST(Findings, AboveTheMeasuredPeak) {
  RunResult run = quiet_run();
  auto& flops = run.cases[0].flops;
  EXPECT_TRUE(of_kind(run, "above_peak").empty());
  flops.peak_measured_flops_per_s = *flops.achieved_flops_per_s / 1.22;
  flops.share_of_measured_peak = Number::missing("122 % of the measured peak");
  const auto found = of_kind(run, "above_peak");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "1 case above the measured peak of this machine, so no share of it is shown: resnet50 eager fp32 "
            "b1.");
  EXPECT_EQ(found[0].evidence, "peak: convolution fp32, 2 threads");
  EXPECT_NE(found[0].advice.find("the peak was measured again"), std::string::npos);
  run.cases[0].benchmark.device = "cuda:0";  // whose peak is not measured again by itself
  EXPECT_NE(of_kind(run, "above_peak").at(0).advice.find("delete its entry in peaks.json"),
            std::string::npos);
}

TEST(Findings, FailedAndSkippedCasesKeepTheirReason) {
  RunResult run = sample_run();
  const auto accuracy = of_kind(run, "accuracy_failure");
  ASSERT_EQ(accuracy.size(), 1U);
  EXPECT_TRUE(says(accuracy[0], "centred cosine 0.41 is below 0.98"));
  EXPECT_TRUE(of_kind(run, "failed_cases").empty());
  const auto skipped = of_kind(run, "skipped_cases");
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_TRUE(says(skipped[0], "fp16 arithmetic needs AVX512_FP16"));
  run.cases.back().reason_code = "crash";
  ASSERT_EQ(of_kind(run, "failed_cases").size(), 1U);
  EXPECT_TRUE(of_kind(run, "accuracy_failure").empty());
}

}  // namespace
}  // namespace paceline::analysis
