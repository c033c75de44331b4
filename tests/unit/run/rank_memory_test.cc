// SPDX-License-Identifier: MIT
#include "run/training/rank_memory.h"

#include <gtest/gtest.h>

#include "unit/run/training_cases.h"

namespace paceline::run {
namespace {

// In bytes.
host::MemoryInfo machine(std::int64_t total, std::int64_t available) {
  host::MemoryInfo memory;
  memory.total_bytes = total;
  memory.available_bytes = available;
  memory.swap_total_bytes = 0;
  memory.cgroup_limit_bytes = Count::missing("no limit");
  return memory;
}

constexpr std::int64_t kGb = 1'000'000'000;

TEST(RankMemory, HoldsParametersGradientsOptimizerAndBuckets) {
  const double resnet = 25'557'032 * 4;
  EXPECT_EQ(least_memory(training_case("model: resnet50\n")).state, 3 * resnet);
  EXPECT_EQ(least_memory(training_case("model: resnet50\ntraining: {momentum: 0}\n")).state, 2 * resnet);
  EXPECT_EQ(least_memory(training_case("model: resnet50\ntraining: {optimizer: adamw}\n")).state, 4 * resnet);
  EXPECT_EQ(least_memory(training_case("model: resnet50\nranks: 2\n")).state, 4 * resnet);
  EXPECT_EQ(
      least_memory(training_case("model: resnet50\nranks: 2\nddp: {gradient_as_bucket_view: true}\n")).state,
      3 * resnet);
  EXPECT_GT(least_memory(training_case("model: tiny_cnn\n")).process, 0);
}

TEST(RankMemory, GrowsWithTheNumberOfClasses) {
  const double wide = 4.0 * 3 * (25'557'032.0 + 999'000.0 * 2049);
  EXPECT_EQ(least_memory(training_case("model: resnet50\ntraining: {num_classes: 1000000}\n")).state, wide);
  EXPECT_EQ(least_memory(training_case("model: tiny_cnn\ntraining: {num_classes: 2}\n")).state,
            4.0 * 3 * (25'626.0 - 8.0 * 2049));
  EXPECT_EQ(least_memory(training_case("model: vit_b_16\ntraining: {num_classes: 1001}\n")).state,
            4.0 * 4 * (86'567'656.0 + 769.0));
  const auto c = training_case("model: resnet50\nbatch: 1\ntraining: {num_classes: 1000000}\n");
  EXPECT_FALSE(judge_memory(c, 1, machine(24 * kGb, 20 * kGb)).refusal.empty());
  EXPECT_GT(least_device_memory(c).activations,
            least_device_memory(training_case("model: resnet50\nbatch: 1\n")).activations + 3.9e6);
}

TEST(RankMemory, HoldsTheBatchesOfItsLoader) {
  const double batch = 8.0 * 3 * 32 * 32 * 4;
  EXPECT_EQ(least_memory(training_case("model: tiny_cnn\nbatch: 8\n")).data, batch);
  EXPECT_EQ(
      least_memory(training_case("model: tiny_cnn\nbatch: 8\ntraining: {accumulation_steps: 3}\n")).data,
      3 * batch);
  EXPECT_EQ(
      least_memory(training_case("model: tiny_cnn\nbatch: 8\ndata: {fresh: true, workers: 4, prefetch: 2}\n"))
          .data,
      9 * batch);
}

TEST(RankMemory, MoreThanTheMachineHasIsRefused) {
  const auto c = training_case("model: tiny_cnn\nranks: 65536\nbatch: 1\ndata: {synthetic_samples: 65536}\n");
  const auto verdict = judge_memory(c, 65'536, machine(32 * kGb, 16 * kGb));
  EXPECT_NE(verdict.refusal.find("65536 ranks of tiny_cnn need at least "), std::string::npos)
      << verdict.refusal;
  EXPECT_NE(verdict.refusal.find("this machine has 32"), std::string::npos) << verdict.refusal;
  EXPECT_TRUE(verdict.warning.empty());
}

TEST(RankMemory, MoreThanIsFreeIsWarnedOf) {
  const auto c = training_case("model: gpt2\nranks: 8\n");  // 8 x (64 MB + 5 x 498 MB)
  const auto verdict = judge_memory(c, 8, machine(32 * kGb, 16 * kGb));
  EXPECT_TRUE(verdict.refusal.empty());
  EXPECT_NE(verdict.warning.find("8 ranks of gpt2 need at least 20.4 GB"), std::string::npos)
      << verdict.warning;
  EXPECT_TRUE(judge_memory(c, 4, machine(32 * kGb, 16 * kGb)).warning.empty());
}

TEST(RankMemory, AControlGroupLimitsAndSwapAdds) {
  const auto c = training_case("model: gpt2\nranks: 8\n");
  auto memory = machine(16 * kGb, 8 * kGb);
  EXPECT_FALSE(judge_memory(c, 8, memory).refusal.empty());
  memory.swap_total_bytes = 16 * kGb;
  EXPECT_TRUE(judge_memory(c, 8, memory).refusal.empty());
  memory.cgroup_limit_bytes = 10 * kGb;
  EXPECT_FALSE(judge_memory(c, 8, memory).refusal.empty());
}

TEST(RankMemory, OfADeviceHoldsOneMicroBatchAndItsActivations) {
  const auto c = training_case("model: resnet50\nbatch: 8\ndata: {fresh: true, workers: 4, prefetch: 2}\n");
  const auto least = least_device_memory(c);
  EXPECT_EQ(least.process, 0);
  EXPECT_EQ(least.state, least_memory(c).state);
  EXPECT_EQ(least.data, 8.0 * 3 * 224 * 224 * 4);
  EXPECT_GT(least.activations, 0);
  const auto amp = least_device_memory(training_case("model: resnet50\nbatch: 8\nprecision: bf16\n"));
  EXPECT_EQ(amp.activations, least.activations / 2);
  EXPECT_EQ(amp.state, least.state);
}

TEST(RankMemory, RefusesWithBothNumbersIfADeviceIsTooSmall) {
  const auto c = training_case("model: resnet50\nbatch: 60000\ndata: {synthetic_samples: 60000}\n");
  const auto words = device_shortage(c, 1, {1, 150'754'820'096});
  EXPECT_NE(
      words.find("out of memory: a rank needs at least 422 GB on its device (parameters, gradients and "
                 "optimizer state 307 MB, inputs 36.1 GB, activations 385 GB), and the largest here has "
                 "151 GB; use a smaller batch"),
      std::string::npos)
      << words;
  EXPECT_EQ(device_shortage(c, 1, {1, Count::missing("not known")}), "");
  EXPECT_EQ(device_shortage(training_case("model: resnet50\nbatch: 64\n"), 1, {1, 80 * kGb}), "");
}

TEST(RankMemory, RanksThatShareADeviceMustFitTogether) {
  const auto c = training_case("model: resnet50\nbatch: 512\nranks: 4\n");
  const auto each = static_cast<std::int64_t>(least_device_memory(c).bytes());
  EXPECT_EQ(device_shortage(c, 4, {4, each + 1}), "");
  EXPECT_NE(device_shortage(c, 4, {2, each + 1}).find("each of 2 ranks that share a device needs at least "),
            std::string::npos);
  EXPECT_EQ(device_shortage(c, 4, {0, each + 1}), "");  // how many there are is not known
}

TEST(RankMemory, NothingIsSaidWhereTheSystemDoesNotTell) {
  const auto verdict = judge_memory(training_case("model: gpt2\nranks: 8\n"), 8, host::MemoryInfo{});
  EXPECT_TRUE(verdict.refusal.empty() && verdict.warning.empty());
}

}  // namespace
}  // namespace paceline::run
