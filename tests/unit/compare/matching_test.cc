// SPDX-License-Identifier: MIT
#include "compare/matching.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "two_runs.h"

namespace paceline::compare {
namespace {

using namespace test;

result::RunResult run_of(const std::vector<std::string>& engines) {
  return side_of("A", {.engines = engines}).stored.run;
}

std::string error_of(const result::RunResult& a, const result::RunResult& b,
                     const std::vector<Match>& matches) {
  try {
    match_cases(a, b, matches);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(CompareMatching, TheOrderOfCasesDoesNotMatter) {
  const auto a = run_of({"eager", "onnxruntime", "openvino"}), b = run_of({"openvino", "eager"});
  const auto found = match_cases(a, b, {});
  ASSERT_EQ(found.cases.size(), 2U);
  for (const auto& one : found.cases) EXPECT_EQ(one.a->label, one.b->label);
  ASSERT_EQ(found.only_a.size(), 1U);
  EXPECT_EQ(found.only_a[0]->label, "resnet50 onnxruntime b8");
  EXPECT_TRUE(found.only_b.empty());
}

// Older results call the same case by another id.
TEST(CompareMatching, IdsDoNotMatter) {
  auto a = run_of({"eager", "openvino"});
  const auto b = a;
  for (auto& one : a.cases) one.case_id = one.benchmark.id = "older-" + one.case_id;
  EXPECT_EQ(match_cases(a, b, {}).cases.size(), 2U);
}

TEST(CompareMatching, AnotherBatchIsAnotherCase) {
  auto a = run_of({"eager", "openvino"}), b = a;
  b.cases[0].benchmark.batch_per_rank = 16;
  EXPECT_EQ(match_cases(a, b, {}).cases.size(), 1U);
}

TEST(CompareMatching, OneCaseEachMatchesAndSaysWhatDiffers) {
  const auto found = match_cases(run_of({"onnxruntime"}), run_of({"openvino"}), {});
  ASSERT_EQ(found.cases.size(), 1U);
  EXPECT_EQ(found.cases[0].differs, "onnxruntime → openvino");
}

TEST(CompareMatching, ARecordedScheduleIsKnownByItsTimes) {
  const auto replays = [](const std::string& file, const std::string& digest) {
    auto run = run_of({"eager", "openvino"});
    run.cases[0].benchmark.params["server.arrival"] = file, run.cases[0].benchmark.schedule = digest;
    return run;
  };
  auto a = replays("flow.csv", "1f2e3d4c5b6a7988");
  EXPECT_EQ(match_cases(a, replays("copy.csv", "1f2e3d4c5b6a7988"), {}).cases.size(), 2U);
  auto b = replays("flow.csv", "0123456789abcdef");
  EXPECT_EQ(match_cases(a, b, {}).cases.size(), 1U);
  a.cases.pop_back(), b.cases.pop_back();  // one case on each side matches
  EXPECT_EQ(match_cases(a, b, {}).cases.at(0).differs, "flow.csv (1f2e3d4c) → flow.csv (01234567)");
  EXPECT_EQ(match_cases(a, run_of({"eager"}), {}).cases.at(0).differs,
            "flow.csv (1f2e3d4c) → drawn arrivals");
}

TEST(CompareMatching, WordsIdsAndLabelsAreNames) {
  const auto a = run_of({"onnxruntime", "eager"}), b = run_of({"openvino", "eager"});
  for (const auto* text : {"onnxruntime=openvino", "resnet50-onnxruntime-b8=resnet50-openvino-b8",
                           "resnet50 onnxruntime b8=resnet50 openvino b8"}) {
    const auto found = match_cases(a, b, {parse_match(text)});
    ASSERT_EQ(found.cases.size(), 2U) << text;
    EXPECT_EQ(found.cases[0].differs, "onnxruntime → openvino");
  }
}

// A part of a word is no name: "run" is not onnxruntime.
TEST(CompareMatching, PartsOfWordsAreNoNames) {
  const auto a = run_of({"onnxruntime", "eager"}), b = run_of({"onnxfuntime", "eager"});
  EXPECT_NE(error_of(a, b, {{"runtime", "funtime"}}).find("--match runtime=funtime: no case"),
            std::string::npos);
}

TEST(CompareMatching, NothingInCommonNamesTheCases) {
  const auto words = error_of(run_of({"eager", "torchscript"}), run_of({"openvino", "onnxruntime"}), {});
  for (const auto* part :
       {"no case in common", "resnet50 eager b8", "resnet50 openvino b8", "--match OLD=NEW"})
    EXPECT_NE(words.find(part), std::string::npos) << words;
}

TEST(CompareMatching, KindsAreNotCompared) {
  auto b = run_of({"eager"});
  b.cases[0].benchmark.kind = WorkloadKind::kTraining;
  EXPECT_NE(error_of(run_of({"eager"}), b, {}).find("inference and B one of training"), std::string::npos);
}

TEST(CompareMatching, AMatchNeedsTwoNames) {
  for (const auto* text : {"a", "=b", "a=", ""}) EXPECT_THROW(parse_match(text), Error) << text;
}

TEST(CompareMatching, ARunIsNotComparedWithItself) {
  const auto side = side_of("A", {});
  EXPECT_THROW(compare_runs({side, side}, {}), Error);
}

}  // namespace
}  // namespace paceline::compare
