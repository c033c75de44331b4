// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "answer/render/answer_forms.h"
#include "compare/comparison_answer.h"
#include "compare/words.h"
#include "support/words.h"
#include "two_runs.h"

namespace paceline::compare {
namespace {

using namespace test;
using paceline::test::expect_words;

Figure time_of(double ratio, double low, double high) {
  return {.name = "p50_ms",
          .unit = "ms",
          .decides = true,
          .change = ratio,
          .ci = stats::Interval{low, high},
          .pairs = 6};
}

TEST(CompareWords, ChangesReadAsPeopleSayThem) {
  EXPECT_EQ(change_with_range(time_of(1.084, 1.063, 1.106), Pairing::kInTurns),
            "8.4 % slower (6.3–10.6 %, 6 pairs)");
  EXPECT_EQ(change_with_range(time_of(0.9, 0.88, 0.92), Pairing::kInTurns),
            "10.0 % faster (8.0–12.0 %, 6 pairs)");
  EXPECT_EQ(change_with_range(time_of(1.01, 0.99, 1.03), Pairing::kApart),
            "1.0 % slower (-1.0 to 3.0 %, 6 processes per side)");
  EXPECT_EQ(change_with_range(time_of(2.5, 2.3, 2.7), Pairing::kInTurns),
            "2.50 times as long (2.30–2.70, 6 pairs)");
  EXPECT_EQ(range_words(time_of(0.7, 0.4, 4.5)), "0.400 to 4.50 times");
  EXPECT_EQ(change_words(time_of(1.0001, 1, 1)), "no difference");
  auto rate = time_of(0.9, 0.88, 0.92);
  rate.unit = "items/s";
  EXPECT_EQ(change_words(rate), "10.0 % lower");
  EXPECT_EQ(change_words({.change = Number::missing("none")}), "–");
}

TEST(CompareWords, ADirectionWithoutASizeIsSaidSo) {
  Figure figure{.unit = "ms", .change = Number::missing("x"), .verdict = stats::Verdict::kRegression};
  EXPECT_EQ(change_with_range(figure, Pairing::kAlternating), "slower, by how much cannot be said");
  figure.unit = "items/s", figure.better = stats::Better::kHigher;
  EXPECT_EQ(change_with_range(figure, Pairing::kAlternating), "lower, by how much cannot be said");
}

TEST(CompareAnswer, TheSentenceNamesTheRegression) {
  const auto answer = answer_of(compare_runs(in_turns({.p50_ms = 10}, {.p50_ms = 12}), {}));
  EXPECT_TRUE(answer.sentence.starts_with("resnet50 onnxruntime b8: ")) << answer.sentence;
  expect_words(answer.sentence, {"% slower (", "6 pairs): REGRESSION."});
  EXPECT_EQ(answer::exit_code_of(answer), ExitCode::kGateFailed);
}

TEST(CompareAnswer, ExitCodesFollowTheVerdicts) {
  const auto code = [](const std::vector<SideRun>& sides) {
    return answer::exit_code_of(answer_of(compare_runs(sides, {})));
  };
  EXPECT_EQ(code(in_turns({}, {})), ExitCode::kOk);
  EXPECT_EQ(code(in_turns({.p50_ms = 12}, {.p50_ms = 10})), ExitCode::kOk);
  EXPECT_EQ(code(apart({}, {.p50_ms = 12})), ExitCode::kInconclusive);
  auto failed = in_turns({}, {});
  failed[1].stored.run.cases[0].outcome = result::Outcome::kFailed;
  EXPECT_EQ(code(failed), ExitCode::kWorkloadFailed);
  failed[1].stored.run.cases[0].outcome = result::Outcome::kSkipped;
  EXPECT_EQ(code(failed), ExitCode::kInconclusive);
  auto lacking = in_turns({}, {});
  lacking[0].stored.run.cases[0].outcome = result::Outcome::kFailed;
  EXPECT_EQ(code(lacking), ExitCode::kInconclusive);
}

TEST(CompareAnswer, ProgramsGetEveryField) {
  const auto json = answer::json_of(answer_of(compare_runs(in_turns({.p50_ms = 10}, {.p50_ms = 12}), {})));
  EXPECT_EQ(json["verdict"], "REGRESSION");
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["pairing"], "alternating");
  const auto& figure = json["cases"][0]["figures"][0];
  EXPECT_EQ(figure["metric"], "p50_ms");
  EXPECT_NEAR(figure["estimate_ratio"].get<double>(), 1.2, 0.02);
  EXPECT_LT(figure["ci_ratio"][0], figure["ci_ratio"][1]);
  EXPECT_EQ(figure["pairs"], 6);
  EXPECT_NEAR(figure["p_holm"].get<double>(), 0.03125, 1e-9);
  EXPECT_EQ(figure["delta"], 0.03);
}

TEST(CompareAnswer, RunsApartHaveNoPairsAndNoP) {
  const auto json = answer::json_of(answer_of(compare_runs(apart({}, {.p50_ms = 12}), {})));
  const auto& figure = json["cases"][0]["figures"][0];
  EXPECT_EQ(json["verdict"], "INCONCLUSIVE");
  EXPECT_EQ(figure["shows"], "REGRESSION");
  EXPECT_EQ(figure["pairs"], 0);
  EXPECT_TRUE(figure["p_sign"].is_null());
  EXPECT_EQ(figure["p_sign_reason"], "not measured in pairs");
}

TEST(CompareAnswer, EveryFormShowsCaseValuesAndVerdict) {
  auto sides = in_turns({.engines = {"onnxruntime", "eager"}, .p50_ms = 10, .processes = 8},
                        {.engines = {"onnxruntime", "openvino"}, .p50_ms = 12, .processes = 8});
  sides[0].stored.run.environment = {{"variables", {{"OMP_NUM_THREADS", "1"}}}};
  sides[1].stored.run.environment = {{"variables", {{"OMP_NUM_THREADS", "2"}}}};
  const auto answer = answer_of(compare_runs(sides, {}));
  const auto text = answer::terminal_of(answer, {}), page = answer::html_of(answer);
  for (const auto& form : {text, page, answer::markdown_of(answer)})
    expect_words(form, {"OMP", "resnet50 onnxruntime b8", "10.0 ms", "12.0 ms", "REGRESSION", "eager",
                        "openvino", "memory"});
  EXPECT_LT(text.find("Environment"), text.find("Cases"));
  expect_words(page, {"<svg", "margin of 3"});
  expect_words(answer::junit_of(answer), {"<failure", "REGRESSION", "tests=\"2\""});
}

TEST(CompareAnswer, ThreeSidesAreEachComparedWithTheFirst) {
  auto sides = in_turns({.p50_ms = 10}, {.p50_ms = 10});
  auto third = side_of("C", {.id = "three", .p50_ms = 12, .shift = 2, .minute = 10, .second = 3});
  sides.push_back(third);
  const auto found = compare_runs(sides, {});
  ASSERT_EQ(found.cases.size(), 2U);
  EXPECT_EQ(found.cases[1].side, 2U);
  expect_words(answer_of(found).sentence, {"in C:"});
}

}  // namespace
}  // namespace paceline::compare
