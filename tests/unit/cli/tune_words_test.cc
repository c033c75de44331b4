// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cli/tune/tune_answer.h"
#include "support/sample_runs.h"

namespace paceline::cli {
namespace {

struct MadeArm {
  double cost;
  std::int64_t memory_bytes;
  answer::Verdict correctness = answer::Verdict::kYes;
};

// The sentence of a search over arms a, b, … whose costs vary by 20 % from round to round, so that none is
// dropped.
std::string sentence(const std::vector<MadeArm>& arms) {
  std::vector<std::string> keys;
  result::RunResult run;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    keys.emplace_back(1, static_cast<char>('a' + i));
    auto one = testing::case_of({"m.onnx", "onnxruntime", "fp32", 1, arms[i].cost, 300});
    one.label = keys.back();
    one.memory.rss_peak_above_load_bytes = arms[i].memory_bytes;
    one.correctness.verdict = arms[i].correctness;
    run.cases.push_back(std::move(one));
  }
  tune::Search search(keys);
  while (!search.next().empty()) {
    std::vector<tune::Outcome> outcomes;
    for (const auto i : search.next())
      outcomes.push_back({i, arms[i].cost * ((search.rounds() + i) % 2 ? 1.0 : 1.2), ""});
    search.take(outcomes);
  }
  TuneRequest request;
  request.objective = &find_objective(WorkloadKind::kInference, "latency");
  const RacedArms raced{search, run, {}, {}, {}, "", false};
  return sentence_of(outcome_of(request, raced, false));
}

TEST(TuneWords, MemoryDecidesAmongArmsThatCostTheSame) {
  const auto text = sentence({{1, 200'000'000}, {1, 100'000'000}, {1, 300'000'000}});
  EXPECT_NE(text.find("Take b"), std::string::npos) << text;
  EXPECT_NE(text.find("; of these it takes the least memory, within 5 % (100 MB)"), std::string::npos)
      << text;
}

TEST(TuneWords, ArmsWithLessMemoryThatMayCostMoreAreNotCounted) {
  const auto text = sentence({{1, 200'000'000}, {1.15, 100'000'000}, {1.01, 250'000'000}});
  EXPECT_NE(text.find("Take a"), std::string::npos) << text;
  EXPECT_NE(text.find("; of these within 3 % it takes the least memory (200 MB)"), std::string::npos) << text;
}

TEST(TuneWords, MemoryIsNotNamedWhereItDecidedNothing) {
  const auto text = sentence({{1, 200'000'000}, {1.15, 100'000'000}});
  EXPECT_NE(text.find("Take a"), std::string::npos) << text;
  EXPECT_NE(text.find("b is not told apart from it."), std::string::npos) << text;
  EXPECT_EQ(text.find("least memory"), std::string::npos) << text;
}

TEST(TuneWords, OutputsThatHoldDecideBeforeMemory) {
  const auto unknown = answer::Verdict::kCannotSay;
  const auto one = sentence({{1, 100'000'000, unknown}, {1, 200'000'000}});
  EXPECT_NE(one.find("Take b"), std::string::npos) << one;
  EXPECT_NE(one.find("a is not told apart from it; of these its outputs alone are known to hold."),
            std::string::npos)
      << one;
  const auto two = sentence({{1, 100'000'000, unknown}, {1, 200'000'000}, {1, 300'000'000}});
  EXPECT_NE(two.find("Take b"), std::string::npos) << two;
  EXPECT_NE(two.find("; of those whose outputs hold it takes the least memory"), std::string::npos) << two;
  EXPECT_NE(sentence({{1, 9, unknown}, {1.15, 9}}).find("Take a"), std::string::npos);
}

TEST(TuneWords, AnArmWhoseOutputsMayNotHoldHasTheCheapestThatDoesBesideIt) {
  const auto unknown = answer::Verdict::kCannotSay, wrong = answer::Verdict::kNo;
  EXPECT_NE(sentence({{1, 1, unknown}, {1.4, 9}, {1.2, 9, unknown}, {1.5, 9}, {1.3, 9, wrong}})
                .find("Whether its outputs hold is not known; those of b do, at about 1.40 times the cost."),
            std::string::npos);
  EXPECT_NE(sentence({{1, 1, unknown}, {1.4, 9, unknown}}).find("Whether its outputs hold is not known."),
            std::string::npos);
  EXPECT_NE(sentence({{1, 1}, {1.4, 9, unknown}}).find("Its outputs agree with the reference."),
            std::string::npos);
}

}  // namespace
}  // namespace paceline::cli
