// SPDX-License-Identifier: MIT
#include "report/junit.h"

#include <gtest/gtest.h>

#include "analysis/gates.h"
#include "result/judged/reference.h"
#include "support/sample_runs.h"

namespace paceline::report {
namespace {

std::string xml_of(const std::vector<std::string>& gates) {
  auto run = ::paceline::testing::sample_run();
  run.gates = analysis::decide_gates(gates, run);
  return junit_xml(run);
}

TEST(Junit, CasesPassFailOrAreSkipped) {
  const std::string xml = xml_of({});
  EXPECT_NE(xml.find(R"(<testsuite name="quickstart.cases" tests="10" failures="1" errors="0" skipped="1">)"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find(R"(<failure message="centred cosine 0.41 is below 0.98"/>)"), std::string::npos);
  EXPECT_NE(xml.find(R"(<skipped message="fp16 arithmetic needs AVX512_FP16, which this CPU lacks"/>)"),
            std::string::npos);
  EXPECT_NE(xml.find(R"(<testsuite name="quickstart.gates" tests="0")"), std::string::npos);
}

TEST(Junit, OutputsThatNoCheckJudgedAreAnErrorWhereTheExitCodeIsThree) {
  auto run = ::paceline::testing::sample_run();
  auto& one = run.cases[0];
  one.correctness.verdict = answer::Verdict::kCannotSay, one.correctness.verdict_because = "it is constant";
  const std::string error = R"x(<error message="outputs: cannot say (it is constant)"/>)x";
  EXPECT_EQ(junit_xml(run).find(error), std::string::npos);
  EXPECT_NE(junit_xml(run, {.strict = true}).find(error), std::string::npos)
      << junit_xml(run, {.strict = true});
  one.correctness.verdict = answer::Verdict::kYes, one.cross_check.asked = true;
  EXPECT_NE(junit_xml(run).find(R"(<error message="its cross-check gave no ratio"/>)"), std::string::npos);
}

// Reasons for exit code 4 or 3 are not green here.
TEST(Junit, CasesFailWhereTheExitCodeSaysSo) {
  auto run = ::paceline::testing::sample_run();
  run.cases[0].grade = result::Grade::kC;
  run.cases[0].grade_reasons = {"steal 9 %"};
  const std::string failure = R"(<failure message="grade C: steal 9 %"/>)";
  EXPECT_EQ(junit_xml(run).find("grade C"), std::string::npos);  // nobody asked
  EXPECT_NE(junit_xml(run, {.strict = true}).find(failure), std::string::npos);
  EXPECT_EQ(junit_xml(run, {.allow_noisy = true, .strict = true}).find("grade C"), std::string::npos);
  const auto fails_under = [&](const std::string& gate) {
    run.gates = analysis::decide_gates({gate + "@" + run.cases[0].case_id + " > 0"}, run);
    return junit_xml(run).find(failure) != std::string::npos;
  };
  for (const char* gate : {"p50_ms", "throughput_per_s", "share_of_peak"})
    EXPECT_TRUE(fails_under(gate)) << gate;
  for (const char* gate : {"speedup", "memory_mb", "top1_agreement"}) EXPECT_FALSE(fails_under(gate)) << gate;
  run.gates.clear();
  auto& open = run.cases[7];
  open.headline.scope = result::kWithinProcess;
  EXPECT_EQ(junit_xml(run).find("as narrow as asked"), std::string::npos);
  EXPECT_NE(
      junit_xml(run, {.strict = true}).find(R"(<error message="its interval is not as narrow as asked"/>)"),
      std::string::npos);
}

TEST(Junit, AnUnfinishedRunIsAnError) {
  auto run = ::paceline::testing::sample_run();
  EXPECT_EQ(junit_xml(run).find("unfinished"), std::string::npos);
  run.outcome = result::kUnfinished;
  EXPECT_NE(junit_xml(run).find(R"(name="the whole run")"), std::string::npos);
  EXPECT_NE(junit_xml(run).find("This run is unfinished"), std::string::npos);
}

TEST(Junit, GatesMetMissedAndUndecided) {
  const std::string xml =
      xml_of({"p50_ms@resnet50-eager-fp32-b1 <= 60", "p50_ms@resnet50-eager-fp32-b1 <= 50",
              "p50_ms@resnet50-eager-fp32-b1 <= 54"});
  EXPECT_NE(xml.find(R"(<testsuite name="quickstart.gates" tests="3" failures="1" errors="1" skipped="0">)"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find(R"(name="p50_ms@resnet50-eager-fp32-b1 &lt;= 50 [resnet50-eager-fp32-b1]")"),
            std::string::npos);
  EXPECT_NE(xml.find(R"(<failure message="missed: resnet50 eager fp32 b1: p50_ms 54.1 (53.0–55.2) ms"/>)"),
            std::string::npos)
      << xml;
}

}  // namespace
}  // namespace paceline::report
