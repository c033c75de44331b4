// SPDX-License-Identifier: MIT
#include "analysis/gates.h"

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using answer::Verdict;

using ::paceline::testing::sample_run;
using result::GateResult;

std::vector<GateResult> decide(const std::string& expression) {
  return decide_gates({expression}, sample_run());
}

std::string error_of(const std::string& expression) {
  try {
    decide(expression);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    return error.what();
  }
  return "";
}

// A number that the report withholds meets no gate; what the check found stands.
TEST(Gates, OnlyTheCheckDecidesACaseThatFailedIt) {
  auto run = sample_run();
  run.cases.resize(1);
  auto& one = run.cases.front();
  one.outcome = result::Outcome::kFailed;
  one.reason_code = "accuracy";
  one.correctness.max_rel_err = 0.5;
  ASSERT_TRUE(one.headline.p50_ns.value);
  const auto speed = decide_gates({"p50_ms < 1e9"}, run).front();
  EXPECT_EQ(speed.verdict, Verdict::kCannotSay);
  EXPECT_NE(speed.detail.find("case failed"), std::string::npos) << speed.detail;
  EXPECT_EQ(decide_gates({"max_rel_err < 0.1"}, run).front().verdict, Verdict::kNo);
}

TEST(Gates, ParsesMetricSelectorOperatorAndBound) {
  const Gate gate = parse_gate(" p50_ms@resnet50/eager/b1 <= 60 ");
  EXPECT_EQ(gate.expression, "p50_ms@resnet50/eager/b1 <= 60");
  EXPECT_EQ(gate.metric, "p50_ms");
  EXPECT_EQ(gate.selector, (std::vector<std::string>{"resnet50", "eager", "b1"}));
  EXPECT_EQ(gate.op, "<=");
  EXPECT_DOUBLE_EQ(gate.bound, 60);
  EXPECT_EQ(parse_gate("speedup>1.5").op, ">");
  EXPECT_TRUE(parse_gate("speedup>1.5").selector.empty());
}

struct Decision {
  const char* expression;
  Verdict verdict;
};

class Decided : public ::testing::TestWithParam<Decision> {};

TEST_P(Decided, OnTheInterval) {
  const auto decided = decide(GetParam().expression);
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_EQ(decided[0].verdict, GetParam().verdict) << decided[0].detail;
  EXPECT_EQ(decided[0].expression, GetParam().expression);
}

// p50 of resnet50 eager fp32 b1 is 54.1 ms (53.018–55.182); memory 312 MB has no interval by nature; p99 is
// missing.
INSTANTIATE_TEST_SUITE_P(
    Verdicts, Decided,
    ::testing::Values(Decision{"p50_ms@resnet50/eager/fp32/b1 <= 60", Verdict::kYes},
                      Decision{"p50_ms@resnet50/eager/fp32/b1 <= 55.182", Verdict::kYes},
                      Decision{"p50_ms@resnet50/eager/fp32/b1 <= 55.1", Verdict::kCannotSay},
                      Decision{"p50_ms@resnet50/eager/fp32/b1 <= 54", Verdict::kCannotSay},
                      Decision{"p50_ms@resnet50/eager/fp32/b1 < 53", Verdict::kNo},
                      Decision{"p50_ms@resnet50/eager/fp32/b1 > 53", Verdict::kYes},
                      Decision{"memory_mb@resnet50/eager/fp32/1 <= 312", Verdict::kYes},
                      Decision{"memory_mb@resnet50/eager/fp32/1 < 312", Verdict::kNo},
                      Decision{"p99_ms@resnet50/eager/fp32/b1 <= 1000", Verdict::kCannotSay},
                      Decision{"samples@resnet50-eager-fp16-b1 >= 0", Verdict::kCannotSay},
                      Decision{"samples@resnet50-eager-fp32-b1 >= 360", Verdict::kYes},
                      Decision{"speedup@bf16/8 >= 1.9", Verdict::kYes}));

TEST(Gates, ABaselineHasANameAndAMargin) {
  const Gate gate = parse_gate("p50_ms@eager <= baseline:main + 5 %");
  EXPECT_EQ(gate.baseline, "main");
  EXPECT_EQ(gate.op, "<=");
  EXPECT_DOUBLE_EQ(gate.bound, 0.05);
  EXPECT_DOUBLE_EQ(parse_gate("p50_ms < baseline:main").bound, 0.03);
  EXPECT_DOUBLE_EQ(parse_gate("throughput_per_s >= baseline:main - 10%").bound, 0.1);
  EXPECT_EQ(parse_gate("p50_ms < baseline:results/a/v1-2+3 + 1%").baseline, "results/a/v1-2+3");
  EXPECT_EQ(parse_gate("p50_ms < baseline:v1-2").baseline, "v1-2");
}

TEST(Gates, ABaselineAsksThatNothingIsWorse) {
  for (const auto* wrong :
       {"p50_ms >= baseline:main", "throughput_per_s < baseline:main",
        "p50_ms < baseline:", "p50_ms < baseline:main - 3%", "throughput_per_s >= baseline:main + 3%",
        "p50_ms < baseline:main + 0%", "p50_ms < baseline:main + 100%", "samples > baseline:x"})
    EXPECT_NE(error_of(wrong).find("baseline:NAME "), std::string::npos) << error_of(wrong);
}

// Two stored runs are compared elsewhere; a selector without a case is a mistake here, too.
TEST(Gates, BaselinesAreLeftToTheComparison) {
  EXPECT_TRUE(decide("p50_ms <= baseline:main + 3%").empty());
  EXPECT_NE(error_of("p50_ms@nobody <= baseline:main").find("no case matches"), std::string::npos);
}

TEST(Gates, ValueWithoutIntervalCannotBeDecided) {
  auto run = sample_run();
  run.cases[0].headline.p50_ns.ci_low = {};
  const auto decided = decide_gates({"p50_ms@resnet50-eager-fp32-b1 <= 1000"}, run);
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_EQ(decided[0].verdict, Verdict::kCannotSay);
  EXPECT_NE(decided[0].detail.find("no interval"), std::string::npos);
}

TEST(Gates, EveryMatchingCaseIsDecided) {
  EXPECT_EQ(decide("p50_ms@vit_b_16/fp32 <= 200").size(), 2U);
  EXPECT_EQ(decide("p50_ms <= 200").size(), 10U);
}

// In a run that has both, only this word selects the cases that are waited for one by one.
TEST(Gates, TheTimingIsAWordOfEveryInference) {
  auto run = sample_run();
  run.cases.resize(2);
  run.cases[1].case_id = run.cases[1].label = "blocks";
  run.cases[1].benchmark.params["timing"] = "pipelined";
  const auto of_sync = decide_gates({"p50_ms@timing=sync < 1e9"}, run);
  ASSERT_EQ(of_sync.size(), 1U);
  EXPECT_EQ(of_sync.front().case_id, run.cases[0].case_id);
  EXPECT_EQ(decide_gates({"throughput_per_s@timing=pipelined > 0"}, run).front().case_id, "blocks");
}

TEST(Gates, ThePathOfAModelSelectsIt) {
  auto run = sample_run();
  run.cases.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    auto& one = run.cases[i];
    one.case_id = "net-" + std::to_string(i);
    one.label = one.benchmark.model = "net.onnx";
    const auto file = i == 0 ? "/data/old/net.onnx" : "/data/7/net.onnx";
    one.benchmark.params["model"] = one.config_effective["model"] = file;
  }
  run.cases[1].benchmark.params.clear();  // its name alone tells it from others
  for (const auto* word :
       {"old/net.onnx", "/data/old/net.onnx", "model=/data/old/net.onnx", "7/net.onnx", "/data/7/net.onnx"})
    EXPECT_EQ(decide_gates({std::string("p50_ms@") + word + " > 0"}, run).size(), 1U) << word;
  // A folder's name is no word: it may be that of an engine or a precision.
  for (const auto* word : {"new/net.onnx", "old", "data/net.onnx"})
    EXPECT_THROW(decide_gates({std::string("p50_ms@") + word + " > 0"}, run), Error) << word;
}

TEST(Gates, ABareNumberIsTheBatchAndNoPartOfAnotherWord) {
  EXPECT_EQ(decide("p50_ms@8 <= 600").size(), 3U);
  EXPECT_NE(error_of("p50_ms@16 <= 600").find("no case matches '16'"), std::string::npos);
  EXPECT_NE(error_of("p50_ms@resnet <= 600").find("no case matches"), std::string::npos);
}

TEST(Gates, ABareNumberIsTheRanksOfTraining) {
  auto run = sample_run();
  run.cases[0].benchmark.kind = WorkloadKind::kTraining;
  run.cases[0].benchmark.world_size = 4;
  EXPECT_TRUE(selects(parse_gate("p50_ms@4 <= 1"), run.cases[0]));
  EXPECT_FALSE(selects(parse_gate("p50_ms@1 <= 1"), run.cases[0]));
}

// A pair of equal cases whose interval happens to lie above 1: the margin of verdicts holds for gates too.
TEST(Gates, AGateNearEqualityNeedsTheMarginOfVerdicts) {
  auto run = sample_run();
  auto& one = run.cases[1];
  const auto decided = [&](const char* expression, double low, double value, double high) {
    one.speedup.ratio = {value, low, high, 0.95, "binomial_processes"};
    return decide_gate(parse_gate(expression), one);
  };
  EXPECT_EQ(decided("speedup > 1.0", 1.0004, 1.0037, 1.02).verdict, Verdict::kCannotSay);
  EXPECT_EQ(decided("speedup >= 1.02", 1.025, 1.04, 1.05).verdict, Verdict::kCannotSay);
  EXPECT_EQ(decided("speedup > 1.0", 1.03, 1.06, 1.08).verdict, Verdict::kYes);
  EXPECT_EQ(decided("speedup > 1.0", 0.97, 0.985, 0.995).verdict, Verdict::kCannotSay);
  EXPECT_EQ(decided("speedup > 1.0", 0.85, 0.9, 0.95).verdict, Verdict::kNo);
  EXPECT_EQ(decided("speedup >= 0.97", 0.99, 1.0, 1.01).verdict, Verdict::kYes);  // not much slower
  EXPECT_EQ(decided("speedup > 1.2", 1.21, 1.22, 1.23).verdict, Verdict::kYes);
  one.config_effective["profile"] = "quiet";
  EXPECT_EQ(decided("speedup > 1.0", 1.03, 1.04, 1.05).verdict, Verdict::kYes);
}

TEST(Gates, TheTextHasTheDigitsThatDecide) {
  auto run = sample_run();
  auto& one = run.cases[1];
  one.speedup.ratio = {1.0037, 1.0004, 1.0163, 0.95, "binomial_processes"};
  EXPECT_EQ(decide_gate(parse_gate("speedup > 1.0"), one).detail,
            "resnet50 torchscript fp32 b1: speedup 1.0037 (1.0004–1.0163); a difference below 5 % does not "
            "count, so a gate at 1 is not decided by it");
  EXPECT_EQ(decide_gate(parse_gate("p50_ms <= 60"), run.cases[0]).detail,
            "resnet50 eager fp32 b1: p50_ms 54.1 (53.0–55.2) ms");
}

// A size that cannot be said meets no gate and misses none.
TEST(Gates, ADirectionDecidesNoSpeedUp) {
  auto run = sample_run();
  auto& s = run.cases[1].speedup;
  s.no_size = "the times of the processes differ too much";
  s.ratio.value = s.ratio.ci_low = s.ratio.ci_high = Number::missing(s.no_size);
  for (const char* gate : {"speedup > 0.1", "speedup > 100", "speedup >= 1", "speedup < 2"}) {
    const auto decided = decide_gate(parse_gate(gate), run.cases[1]);
    EXPECT_EQ(decided.verdict, Verdict::kCannotSay) << gate;
    EXPECT_EQ(decided.detail,
              "resnet50 torchscript fp32 b1: speedup is missing: the times of the processes differ too much");
  }
}

TEST(Gates, UnclaimedFiguresDecideNothing) {
  auto run = sample_run();
  auto& one = run.cases[1];
  one.speedup.reason = "fewer than six pairs of processes";
  const auto decided = decide_gate(parse_gate("speedup > 1.0"), one);
  EXPECT_EQ(decided.verdict, Verdict::kCannotSay);
  EXPECT_NE(decided.detail.find("speedup is missing: fewer than six pairs of processes"), std::string::npos);
  run.cases[0].cross_check.ratio = {1.3, 1.2, 1.4, 0.95, ""};
  run.cases[0].grade = result::Grade::kC;  // the interval of a ratio over pairs holds whatever the grade
  EXPECT_EQ(decide_gate(parse_gate("cross_check_ratio <= 1.5"), run.cases[0]).verdict, Verdict::kYes);
}

TEST(Gates, ErrorsSayWhatToWrite) {
  EXPECT_NE(error_of("p5_ms@resnet50 <= 60").find("did you mean 'p50_ms'"), std::string::npos);
  EXPECT_NE(error_of("p50_ms@resnet50 60").find("METRIC[@SELECTOR] OP VALUE"), std::string::npos);
  EXPECT_NE(error_of("p50_ms <= sixty").find("'sixty' is not a number"), std::string::npos);
  EXPECT_NE(error_of("p50_ms <= ").find("is not a number"), std::string::npos);
  EXPECT_NE(error_of("p50_ms@ <= 3").find("write METRIC"), std::string::npos);
  EXPECT_NE(error_of("<= 3").find("write METRIC"), std::string::npos);
  EXPECT_NE(error_of("p50_ms@alexnet <= 3").find("resnet50 eager fp32 b1"), std::string::npos);
}

TEST(AccuracyGates, ClaimsBecomeGates) {
  auto run = sample_run();
  EXPECT_TRUE(accuracy_gates(run).empty());
  constexpr std::array kVerdicts{Verdict::kYes, Verdict::kNo, Verdict::kCannotSay};
  for (std::size_t i = 0; i < kVerdicts.size(); ++i) {
    auto& claim = run.cases[i].correctness.claim;
    claim.limit = 0.005;
    claim.basis = i == 1 ? "labels" : "answers";
    claim.verdict = kVerdicts.at(i);
    claim.detail = "because";
  }
  const auto gates = accuracy_gates(run);
  ASSERT_EQ(gates.size(), 3U);
  EXPECT_EQ(gates[0].verdict, Verdict::kYes);
  EXPECT_EQ(gates[1].verdict, Verdict::kNo);
  EXPECT_EQ(gates[2].verdict, Verdict::kCannotSay);
  EXPECT_EQ(gates[0].expression, "top-1 change < 0.5 %");
  EXPECT_EQ(gates[0].metric, "top1_agreement");
  EXPECT_EQ(gates[1].metric, "top1_change");
  EXPECT_EQ(gates[2].detail, "resnet50 eager bf16 b1: because");
}

TEST(Gates, AgreementIsDecidedOnItsInterval) {
  auto run = sample_run();
  paceline::testing::judge_by_answers(run.cases[0], 1, 50);  // 0.95 to 0.99
  const auto verdict = [&](const std::string& expression) {
    return decide_gate(parse_gate(expression), run.cases[0]).verdict;
  };
  EXPECT_EQ(verdict("top1_agreement >= 0.94"), Verdict::kYes);
  EXPECT_EQ(verdict("top1_agreement >= 0.97"), Verdict::kCannotSay);
  EXPECT_EQ(verdict("top1_agreement >= 0.995"), Verdict::kNo);
}

}  // namespace
}  // namespace paceline::analysis
