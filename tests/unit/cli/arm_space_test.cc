// SPDX-License-Identifier: MIT
#include "cli/tune/arm_space.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/flags.h"
#include "config/option_table.h"

namespace paceline::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

// The words of a search that was typed as these, in one line.
std::string line_of(const Words& typed) {
  const auto request = tune_request(typed);
  const auto flags = config::parse_flags(request.words, config::command_of(request.kind));
  return join(words_of_arms(request, flags, 10), " ");
}

std::string refused_arms(const Words& typed) {
  try {
    line_of(typed);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    return error.what();
  }
  return {};
}

Words train(Words more) {
  Words words{"train", "--device", "cpu", "--model", "tiny_cnn"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(ArmsOfTraining, FollowFromModelDataAndRanks) {
  const auto one = line_of(train({}));
  EXPECT_THAT(one, HasSubstr(" --batch 8,32 "));
  EXPECT_THAT(one, HasSubstr(" --precision fp32,bf16 --layout contiguous,channels_last"));
  EXPECT_THAT(one, Not(HasSubstr("bucket")));
  EXPECT_THAT(one, Not(HasSubstr("workers")));
  EXPECT_TRUE(one.ends_with("--experiment-name tune --repetitions 10"));
  const auto two = line_of(train({"--ranks", "1,2", "--data.synthetic_fresh"}));
  EXPECT_THAT(two, HasSubstr("--data.workers 1,2,4 --ddp.bucket_cap_mb 5,25,100"));
  EXPECT_THAT(line_of({"train", "--device", "cpu", "--model", "gpt2"}), Not(HasSubstr("layout")));
  EXPECT_THAT(line_of(train({"--objective", "latency"})), Not(HasSubstr("--batch")));
}

TEST(ArmsOfTraining, ProcessesPerNodeAreRanks) {
  EXPECT_THAT(line_of(train({"--nproc-per-node", "2"})), HasSubstr("--ddp.bucket_cap_mb 5,25,100"));
}

TEST(ArmsOfTraining, RanksDivideABatchOfStrongScaling) {
  EXPECT_THAT(line_of(train({"--ranks", "2,3", "--scaling", "strong"})), HasSubstr(" --batch 48,192 "));
  EXPECT_THAT(line_of(train({"--ranks", "2,3", "--scaling", "weak"})), HasSubstr(" --batch 8,32 "));
}

TEST(ArmsOfTraining, AnOptionThatIsTypedStays) {
  EXPECT_THAT(line_of(train({"--batch", "4", "--precision", "fp32", "--layout", "contiguous"})),
              Not(HasSubstr(",channels_last")));
  const auto chosen = line_of(train({"--axes", "precision"}));
  EXPECT_THAT(chosen, HasSubstr("--precision fp32,bf16"));
  EXPECT_THAT(chosen, Not(HasSubstr("--batch")));
}

TEST(ArmsOfTraining, LooksAreShortAndEndWithAThirdOfTheBudget) {
  EXPECT_THAT(line_of(train({})), HasSubstr("--benchmark.warmup_steps 3 --timeout_s 300 --stop.t_max_s 3"));
  EXPECT_THAT(line_of(train({"--budget", "1m"})), HasSubstr("--timeout_s 60"));
  const auto typed = line_of(train({"--steps", "20", "--warmup-steps", "5", "--timeout-s", "7"}));
  for (const auto* word : {"stop.", "--benchmark.warmup_steps", "--timeout_s"})
    EXPECT_THAT(typed, Not(HasSubstr(word)));
  const auto p99 = line_of(train({"--slo", "p99<=20ms"}));
  EXPECT_THAT(p99, HasSubstr("--stop.n-min 100 --stop.rel-halfwidth-p50 1"));
  EXPECT_THAT(p99, Not(HasSubstr("t_max")));
}

TEST(ArmsOfTraining, AxesThatChooseNothingAreRefused) {
  EXPECT_THAT(
      refused_arms(train({"--axes", "engine"})),
      HasSubstr("--axes engine: a search of train has no such axis; it has batch, threads, precision, "
                "layout, workers, bucket"));
  EXPECT_THAT(refused_arms(train({"--axes", "bucket"})), HasSubstr("write --ranks 2"));
  EXPECT_THAT(refused_arms(train({"--axes", "workers"})), HasSubstr("--data.source"));
  EXPECT_THAT(refused_arms({"train", "--model", "gpt2", "--axes", "layout"}),
              HasSubstr("gpt2 takes no images"));
  EXPECT_THAT(refused_arms(train({"--axes", "threads", "--ranks", "4096"})), HasSubstr("one core per rank"));
  EXPECT_THAT(line_of(train({"--axes", "threads", "--ranks", "4096", "--threads", "1,2"})),
              HasSubstr("--threads 1,2"));
}

TEST(ArmsOfTraining, WhatASearchDecidesIsRefused) {
  for (const auto* option : {"--epochs", "--repetitions"})
    EXPECT_THAT(refused_arms(train({option, "3"})), HasSubstr("leave it out"));
  for (const auto* option : {"--profiling.enabled", "--checkpoint.resume", "--dry-run"})
    EXPECT_THAT(refused_arms(train({option})), HasSubstr("leave it out"));
  EXPECT_THAT(refused_arms(train({"-c", "plan.yaml"})), HasSubstr("not a plan"));
  EXPECT_THAT(refused_arms(train({"plan.yaml"})), HasSubstr("plan.yaml: a search takes options of train"));
  EXPECT_THAT(refused_arms({"train", "--model", "resnet50,gpt2"}), HasSubstr("about one model"));
}

TEST(ArmsOfInference, KnowNoAxisOfTraining) {
  EXPECT_THAT(refused_arms({"--model", "resnet50", "--device", "cpu", "--axes", "bucket"}),
              HasSubstr("it has engine, precision, threads, batch, instances, layout"));
  EXPECT_THAT(line_of({"infer", "--model", "resnet50", "--device", "cpu"}),
              HasSubstr("--engine all --precision fp32,bf16,int8"));
  EXPECT_THAT(refused_arms({"--device", "cpu"}), HasSubstr("no model given"));
}

}  // namespace
}  // namespace paceline::cli
