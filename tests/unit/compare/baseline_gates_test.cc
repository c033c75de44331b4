// SPDX-License-Identifier: MIT
#include "compare/baseline_gates.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "two_runs.h"

namespace paceline::compare {
namespace {

using namespace test;

// The gate decided on the second of two runs, with the first as its baseline.
result::GateResult decided(const std::vector<SideRun>& runs, const std::string& gate) {
  const auto all = baseline_gates({gate}, runs[1].stored, [&](const std::string& name) {
    EXPECT_EQ(name, "main");
    return runs[0].stored;
  });
  EXPECT_EQ(all.size(), 1U);
  return all.at(0);
}

constexpr const char* kGate = "p50_ms <= baseline:main + 3%";

TEST(BaselineGates, RunsInTurnsAreDecided) {
  EXPECT_EQ(decided(in_turns({}, {.p50_ms = 12}), kGate).verdict, answer::Verdict::kNo);
  EXPECT_EQ(decided(in_turns({}, {.p50_ms = 9}), kGate).verdict, answer::Verdict::kYes);
  EXPECT_EQ(decided(in_turns({}, {}), kGate).verdict, answer::Verdict::kYes);
  EXPECT_EQ(decided(in_turns({}, {.p50_ms = 12}), "p50_ms <= baseline:main + 40%").verdict,
            answer::Verdict::kYes);
}

TEST(BaselineGates, ABaselineIsReadOnceForAllGates) {
  const auto runs = in_turns({}, {.p50_ms = 12});
  int read = 0;
  const auto all = baseline_gates({kGate, "p50_ms <= baseline:main + 40%", "mean_ms <= baseline:main + 3%"},
                                  runs[1].stored, [&](const std::string&) {
                                    ++read;
                                    return runs[0].stored;
                                  });
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].verdict, answer::Verdict::kNo);
  EXPECT_EQ(all[1].verdict, answer::Verdict::kYes);
  EXPECT_EQ(read, 1);
}

// Drift between the runs looks like a change.
TEST(BaselineGates, TimesMeasuredApartAreNeverMoreThanSuspected) {
  for (const double p50_ms : {5.0, 10.0, 20.0}) {
    const auto one = decided(apart({}, {.p50_ms = p50_ms}), kGate);
    EXPECT_EQ(one.verdict, answer::Verdict::kCannotSay) << p50_ms;
    EXPECT_NE(one.detail.find("paceline compare infer --a"), std::string::npos) << one.detail;
    EXPECT_EQ(one.invalid, "");
  }
  const auto slower = decided(apart({}, {.p50_ms = 20}), kGate);
  EXPECT_NE(slower.detail.find("suspected"), std::string::npos) << slower.detail;
}

TEST(BaselineGates, AnotherMachineAllowsNoVerdict) {
  auto runs = in_turns({}, {.p50_ms = 12});
  runs[0].stored.run.environment = nlohmann::json::parse(R"({"cpu": {"model": "Xeon"}})");
  runs[1].stored.run.environment = nlohmann::json::parse(R"({"cpu": {"model": "EPYC"}})");
  const auto one = decided(runs, kGate);
  EXPECT_EQ(one.verdict, answer::Verdict::kCannotSay);
  EXPECT_NE(one.invalid.find("CPU model"), std::string::npos) << one.invalid;
}

TEST(BaselineGates, AFallOfAccuracyIsMissedEvenApart) {
  auto runs = apart({}, {});
  runs[0].stored.run.cases[0].correctness.top1 = {0.99, 0.98, 0.995, 0.95, "clopper_pearson"};
  runs[1].stored.run.cases[0].correctness.top1 = {0.90, 0.88, 0.92, 0.95, "clopper_pearson"};
  EXPECT_EQ(decided(runs, "top1_agreement >= baseline:main").verdict, answer::Verdict::kNo);
}

// A share may fall by the margin of the gate, in points, whatever the test of equality says.
TEST(BaselineGates, TheIntervalOfAShareIsHeldAgainstTheMargin) {
  const auto verdict = [](std::size_t lost, const std::string& gate) {
    auto runs = apart({}, {});
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<bool> right(1000, true);
      for (std::size_t k = 0; k < i * lost; ++k) right[k] = false;
      auto& found = runs[i].stored.run.cases[0].correctness;
      const double share = 1 - static_cast<double>(i * lost) / 1000;
      found.samples = 1000;
      found.labelled.top1 = {share, share - 0.01, share, 0.95, "clopper_pearson"};
      found.labelled.answers = {"same", result::stored_answers(right)};
    }
    return decided(runs, gate).verdict;
  };
  EXPECT_EQ(verdict(0, "top1_accuracy >= baseline:main - 1%"), answer::Verdict::kYes);
  EXPECT_EQ(verdict(10, "top1_accuracy >= baseline:main - 3%"), answer::Verdict::kYes);
  EXPECT_EQ(verdict(10, "top1_accuracy >= baseline:main - 1%"), answer::Verdict::kCannotSay);
  EXPECT_EQ(verdict(40, "top1_accuracy >= baseline:main - 1%"), answer::Verdict::kNo);
}

TEST(BaselineGates, WhatCannotBeComparedIsSaid) {
  const auto detail = [](const std::vector<SideRun>& runs, const char* gate) {
    const auto one = decided(runs, gate);
    EXPECT_EQ(one.verdict, answer::Verdict::kCannotSay);
    return one.detail;
  };
  EXPECT_NE(detail(in_turns({}, {}), "centred_cosine >= baseline:main").find("no figure that both runs have"),
            std::string::npos);
  EXPECT_NE(detail(in_turns({}, {.engines = {"openvino"}}), kGate).find("is another one (onnxruntime"),
            std::string::npos);
  auto failed = in_turns({}, {});
  failed[0].stored.run.cases[0].outcome = result::Outcome::kFailed;
  failed[0].stored.run.cases[0].reason = "it crashed";
  EXPECT_NE(detail(failed, kGate).find("it crashed"), std::string::npos);
}

TEST(BaselineGates, OthersAreLeftAlone) {
  const auto runs = in_turns({}, {});
  EXPECT_TRUE(baseline_gates({"p50_ms < 60"}, runs[1].stored, [](const std::string&) -> result::StoredRun {
                throw Error(ErrorCode::kInternal, "nothing is read");
              }).empty());
}

}  // namespace
}  // namespace paceline::compare
