// SPDX-License-Identifier: MIT
#include "cli/tune/arm_plan.h"

#include <gtest/gtest.h>

#include "config/flags.h"
#include "config/option_table.h"

namespace paceline::cli {
namespace {

using Words = std::vector<std::string>;

config::Plan plan_of_words(const Words& words, unsigned command = config::kTrain) {
  return config::plan_from_flags(config::parse_flags(words, command));
}

Words labels_of(const config::Plan& plan) {
  Words labels;
  for (const auto& one : config::expand(plan)) labels.push_back(one.label);
  return labels;
}

TEST(ArmPlan, TheCommandHasTheSettingsOfTheArm) {
  const auto plan = plan_of_words({"--model",
                                   "tiny_cnn",
                                   "--batch",
                                   "4,32",
                                   "--ranks",
                                   "2",
                                   "--precision",
                                   "fp32,bf16",
                                   "--ddp.bucket_cap_mb",
                                   "5,25",
                                   "--no-pin",
                                   "--seed",
                                   "7",
                                   "--repetitions",
                                   "10",
                                   "--warmup-steps",
                                   "3",
                                   "--stop.t_max_s",
                                   "3",
                                   "--experiment-name",
                                   "tune",
                                   "--training.betas",
                                   "0.8,0.9",
                                   "--env.X",
                                   "a b",
                                   "--allow-noisy"});
  const auto cases = config::expand(plan);
  EXPECT_EQ(command_of_arm(plan, cases.at(0)),
            "paceline train --model tiny_cnn --precision fp32 --batch 4 --ranks 2 --training.betas 0.8,0.9 "
            "--training.seed 7 --ddp.bucket_cap_mb 5 --pin=false --allow-noisy --env.X 'a b'");
}

TEST(ArmPlan, ThePlanHasOneCase) {
  const auto plan = plan_of_words({"--model", "tiny_cnn", "--batch", "4,8", "--env.X", "c",
                                   "--data.synthetic_fresh", "--workers", "1,2"});
  const auto arm = config::expand(plan).back();
  const auto alone = config::load_plan_text(plan_of_arm(plan, arm), "best.yaml");
  const auto cases = config::expand(alone);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].settings.integer("batch"), 8);
  EXPECT_EQ(cases[0].settings.integer("data.workers"), 2);
  EXPECT_EQ(cases[0].env.at("X"), "c");
  EXPECT_EQ(cases[0].settings.integer("repetitions"), 6);
}

TEST(ArmPlan, StrongScalingKeepsTheBatchOfAllRanks) {
  const auto plan =
      plan_of_words({"--model", "tiny_cnn", "--batch", "32,64", "--ranks", "2", "--scaling", "strong"});
  const auto arm = config::expand(plan).back();
  const auto again = config::load_plan_text(plan_of_arm(plan, arm), "best.yaml");
  EXPECT_EQ(labels_of(again), Words{arm.label});
  EXPECT_NE(command_of_arm(plan, arm).find("--batch 64 --ranks 2"), std::string::npos);
}

TEST(ArmPlan, TheCommandMakesTheSameCase) {
  const auto plan = plan_of_words({"--model", "tiny_cnn", "--batch", "4,8", "--ranks", "1,2", "--layout",
                                   "contiguous,channels_last", "--threads", "1,2", "--optimizer", "adam"});
  for (const auto& arm : config::expand(plan)) {
    Words words;
    const auto command = command_of_arm(plan, arm);
    for (std::size_t begin = 15; begin < command.size();) {  // behind "paceline train "
      const auto end = std::min(command.find(' ', begin), command.size());
      words.push_back(command.substr(begin, end - begin));
      begin = end + 1;
    }
    const auto same = config::expand(plan_of_words(words)).at(0);
    for (const auto* name : {"batch", "ranks", "layout", "threads", "training.optimizer"})
      EXPECT_EQ(same.settings.list(name), arm.settings.list(name)) << command;
  }
}

}  // namespace
}  // namespace paceline::cli
