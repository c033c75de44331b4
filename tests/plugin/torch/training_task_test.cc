// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>

#include "config/vocabulary.h"
#include "torch/training/task.h"
#include "training_driver.h"

// How examples are made of batches, on the task itself: the plug-in's interface shows only losses.
namespace paceline::torch_test {
namespace {

using torch_plugin::Example;
using torch_plugin::kNoTarget;

at::Tensor sentence(std::int64_t batch, std::int64_t length) {
  auto ids = at::arange(batch * length, at::kLong).remainder(20000).add(1000).view({batch, length});
  ids.select(1, 0).fill_(101);
  ids.select(1, length - 1).fill_(102);
  return ids;
}

Example masked(std::uint64_t seed, std::uint64_t draw, const at::Tensor& ids, const at::Tensor& seen) {
  return torch_plugin::task_of("bert-large", seed)->prepare({ids, seen}, draw);
}

TEST(MaskedTokens, AreAboutFifteenPercentOfWhichMostAreHidden) {
  const auto ids = sentence(64, 512);
  const auto example = masked(1, 0, ids, at::ones_like(ids));
  const auto chosen = example.targets.ne(kNoTarget);
  const double share = chosen.sum().item<double>() / (64 * 510);
  EXPECT_NEAR(share, 0.15, 0.006);  // three standard deviations
  EXPECT_TRUE(at::equal(example.targets.masked_select(chosen), ids.masked_select(chosen)));
  EXPECT_TRUE(at::equal(example.inputs[0].masked_select(~chosen), ids.masked_select(~chosen)));
  const auto shown = example.inputs[0].masked_select(chosen);
  const double count = chosen.sum().item<double>();
  EXPECT_NEAR(shown.eq(103).sum().item<double>() / count, 0.8, 0.02);
  EXPECT_NEAR(shown.eq(ids.masked_select(chosen)).sum().item<double>() / count, 0.1, 0.015);
}

TEST(MaskedTokens, AreNeverSpecialOrHiddenOnes) {
  auto ids = sentence(8, 64);
  const auto seen = at::ones_like(ids);
  seen.narrow(1, 32, 32).zero_();
  const auto targets = masked(1, 0, ids, seen).targets;
  EXPECT_TRUE(targets.narrow(1, 32, 32).eq(kNoTarget).all().item<bool>());
  EXPECT_TRUE(targets.select(1, 0).eq(kNoTarget).all().item<bool>());
}

TEST(MaskedTokens, ComeFromSeedAndDraw) {
  const auto ids = sentence(4, 64), seen = at::ones_like(ids);
  const auto first = masked(1, 0, ids, seen).inputs[0];
  EXPECT_TRUE(at::equal(first, masked(1, 0, ids, seen).inputs[0]));
  EXPECT_FALSE(at::equal(first, masked(1, 1, ids, seen).inputs[0]));
  EXPECT_FALSE(at::equal(first, masked(2, 0, ids, seen).inputs[0]));
}

TEST(MaskedTokens, AreAtLeastOne) {
  const auto ids = at::full({1, 2}, 2000, at::kLong), seen = at::ones_like(ids);
  for (std::uint64_t draw = 0; draw < 50; ++draw)
    EXPECT_GE(masked(1, draw, ids, seen).targets.ne(kNoTarget).sum().item<std::int64_t>(), 1);
  expect_error(ErrorCode::kData, [&] { masked(1, 0, at::zeros_like(ids), seen); }, {"no token"});
}

// Plans are checked with a table of their own, which plug-ins do not see: ids are below the vocabulary.
TEST(Tasks, TellApartWhatTheModelsDo) {
  for (const auto& model : config::models()) {
    if (model.internal) continue;
    const std::string name(model.name);
    const auto classes = torch_plugin::task_of(name, 1)->classes();
    if (const auto ids = model.inputs.front().id_limit; ids > 0) {
      EXPECT_EQ(classes, ids) << name;
      continue;
    }
    auto engine = load({.model = name, .batch = 1});
    auto data = data_for(inputs_of(name, 1));
    bind(*engine, data);
    EXPECT_EQ(run(*engine).size(), static_cast<std::size_t>(classes)) << name;
  }
}

TEST(Tasks, ImageModelsTakeAnyNumberOfClasses) {
  EXPECT_EQ(torch_plugin::task_of("resnet50", 1, 3)->classes(), 3);
  EXPECT_EQ(torch_plugin::task_of("vit_b_16", 1)->classes(), 1000);
  EXPECT_THROW(torch_plugin::task_of("gpt2", 1, 3), Error);
}

TEST(NextTokens, AreTheInputsOneFurther) {
  const auto ids = at::arange(8, at::kLong).view({2, 4});
  const auto task = torch_plugin::task_of("gpt2", 1);
  const auto example = task->prepare({ids}, 0);
  EXPECT_TRUE(at::equal(example.targets, ids.narrow(1, 1, 3)));
  EXPECT_EQ(task->answers(at::zeros({2, 4, 9})).sizes(), (std::vector<std::int64_t>{2, 3, 9}));
}

}  // namespace
}  // namespace paceline::torch_test
