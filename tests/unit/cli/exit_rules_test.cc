// SPDX-License-Identifier: MIT
#include "cli/exit_rules.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "result/judged/reasons.h"

namespace paceline::cli {
namespace {

result::CaseResult ok_case(const std::string& id = "a") {
  result::CaseResult c;
  c.case_id = id;
  c.outcome = result::Outcome::kOk;
  c.grade = result::Grade::kA;
  return c;
}
result::CaseResult ended(const char* code) {
  auto c = ok_case("ended");
  c.outcome = result::reason_of(code).skips ? result::Outcome::kSkipped : result::Outcome::kFailed;
  c.reason_code = code;
  return c;
}
result::RunResult run_of(std::vector<result::CaseResult> cases) {
  result::RunResult run;
  run.cases = std::move(cases);
  return run;
}
result::GateResult gate(answer::Verdict verdict, const std::string& metric = "p50_ms") {
  return {metric + " < 1", "a", metric, verdict, ""};
}
ExitCode code_of(const result::RunResult& run, const ExitOptions& options = {}) {
  return exit_code_of(run, options);
}

TEST(ExitRules, ARunOfNothingIsSkipped) {
  EXPECT_EQ(code_of(run_of({})), ExitCode::kSkipped);
  EXPECT_EQ(code_of(run_of({ended("unsupported")})), ExitCode::kSkipped);
  EXPECT_EQ(code_of(run_of({ended("unsupported"), ok_case()})), ExitCode::kOk);
}

TEST(ExitRules, EachReasonHasItsCodeAndTheMostSevereOneCounts) {
  for (const auto& reason : result::reasons())
    EXPECT_EQ(code_of(run_of({ended(std::string(reason.code).c_str())})),
              worse(ExitCode::kSkipped, reason.exit_code))
        << reason.code;
  EXPECT_EQ(code_of(run_of({ended("accuracy"), ended("crash"), ok_case()})), ExitCode::kWorkloadFailed);
  EXPECT_EQ(code_of(run_of({ended("crash"), ended("config")})), ExitCode::kUsage);
}

TEST(ExitRules, GatesCountBesideTheCases) {
  auto run = run_of({ok_case()});
  run.gates = {gate(answer::Verdict::kYes)};
  EXPECT_EQ(code_of(run), ExitCode::kOk);
  run.gates.push_back(gate(answer::Verdict::kCannotSay));
  EXPECT_EQ(code_of(run), ExitCode::kInconclusive);
  run.gates.push_back(gate(answer::Verdict::kNo));
  EXPECT_EQ(code_of(run), ExitCode::kGateFailed);
}

TEST(ExitRules, NoiseCountsWhereATimeWasToBeJudged) {
  auto noisy = ok_case();
  noisy.grade = result::Grade::kC;
  auto run = run_of({noisy});
  EXPECT_EQ(code_of(run), ExitCode::kOk);
  EXPECT_EQ(code_of(run, {.strict = true}), ExitCode::kEnvironmentInvalid);
  run.gates = {gate(answer::Verdict::kYes)};
  EXPECT_EQ(code_of(run), ExitCode::kEnvironmentInvalid);
  EXPECT_EQ(code_of(run, {.allow_noisy = true}), ExitCode::kOk);
}

TEST(ExitRules, ACrossCheckWithoutRatioLeavesAQuestionOpen) {
  auto asked = ok_case();
  asked.cross_check.asked = true;
  EXPECT_EQ(code_of(run_of({asked})), ExitCode::kInconclusive);
}

TEST(ExitRules, AnInterruptOutranksAll) {
  EXPECT_EQ(code_of(run_of({ended("config")}), {.interrupted = true}), ExitCode::kInterrupted);
}

TEST(ExitRules, ErrorsOfCommandsHaveTheCodesOfCases) {
  EXPECT_EQ(exit_code_of(ErrorCode::kUnavailable), ExitCode::kSkipped);
  EXPECT_EQ(exit_code_of(ErrorCode::kUnsupported), ExitCode::kSkipped);
  EXPECT_EQ(exit_code_of(ErrorCode::kTimeout), ExitCode::kWorkloadFailed);
  EXPECT_EQ(exit_code_of(ErrorCode::kInternal), ExitCode::kWorkloadFailed);
  for (const auto code : {ErrorCode::kUsage, ErrorCode::kConfig, ErrorCode::kData, ErrorCode::kIo})
    EXPECT_EQ(exit_code_of(code), ExitCode::kUsage);
}

TEST(ExitRules, EveryCodeIsExplainedOnce) {
  std::vector<int> codes;
  for (const auto& row : exit_meanings()) codes.push_back(static_cast<int>(row.code));
  std::sort(codes.begin(), codes.end());
  EXPECT_EQ(codes, (std::vector{0, 1, 2, 3, 4, 5, 77, 130}));
  const auto text = exit_codes_markdown();
  for (const auto& reason : result::reasons())
    EXPECT_NE(text.find("| `" + std::string(reason.code) + "` |"), std::string::npos) << reason.code;
}

}  // namespace
}  // namespace paceline::cli
