// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "training_driver.h"

namespace paceline::torch_test {
namespace {

std::string setting_of(const plugin::Trainer& trainer, const std::string& name) {
  for (const auto& [key, value] : trainer.info().settings)
    if (key == name) return value;
  return "(none)";
}

// Derives the gradient: one SGD step at rate 1 subtracts just that.
Weights gradient_of(const Weights& before, const Weights& after) {
  auto gradient = before;
  for (std::size_t i = 0; i < before.size(); ++i)
    for (std::size_t j = 0; j < before[i].size(); ++j) gradient[i][j] -= after[i][j];
  return gradient;
}

double norm_of(const Weights& weights) {
  double sum = 0;
  for (const auto& tensor : weights)
    sum = std::inner_product(tensor.begin(), tensor.end(), tensor.begin(), sum);
  return std::sqrt(sum);
}

TEST(Trainer, IsOffered) {
  const auto& description = torch_plugin().description();
  ASSERT_EQ(description.trainers.size(), 1u);
  EXPECT_STREQ(description.trainers[0].device, "cpu");
  ASSERT_EQ(description.backends.size(), 1u);
  EXPECT_STREQ(description.backends[0].name, "gloo");
}

TEST(Trainer, SaysWhatABatchIs) {
  const auto specs = make_trainer({})->batch_specs();
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[0].shape, (Shape{4, 3, 32, 32}));
  EXPECT_EQ(specs[1].name, "labels");
  EXPECT_EQ(specs[1].dtype, DType::kInt64);
  EXPECT_EQ(specs[1].shape, (Shape{4}));
}

TEST(Trainer, LearnsABatchByHeart) {
  const auto trainer = make_trainer({});
  const auto first = train(*trainer, samples(*trainer, 0), 0.02);
  plugin::StepOutcome last;
  for (int i = 0; i < 20; ++i) last = train(*trainer, samples(*trainer, 0), 0.02);
  EXPECT_GT(first.loss, 1);
  EXPECT_LT(last.loss, 0.1 * first.loss);
  EXPECT_EQ(last.correct, 4);
  EXPECT_EQ(last.judged, 4);
  EXPECT_FALSE(last.skipped);
  EXPECT_FALSE(last.loss_scale);
}

TEST(Trainer, FollowsTheStatisticsOfBatches) {
  const auto trainer = make_trainer({});
  const auto before = weights_of(*trainer);
  train(*trainer, samples(*trainer, 0), 0);
  const auto after = weights_of(*trainer);
  ASSERT_EQ(before.size(), 12u);  // the last four are the two layers' running mean and variance
  EXPECT_EQ(Weights(before.begin(), before.begin() + 8), Weights(after.begin(), after.begin() + 8));
  for (std::size_t i = 8; i < 12; ++i) EXPECT_NE(before[i], after[i]);
  const auto once = evaluate(*trainer, samples(*trainer, 4));
  EXPECT_EQ(once.loss, evaluate(*trainer, samples(*trainer, 4)).loss);
  EXPECT_EQ(weights_of(*trainer), after);
}

TEST(Trainer, TellsThePartsOfAStep) {
  auto settings = separable();
  settings.accumulation_steps = 2;
  const auto trainer = make_trainer({.settings = settings});
  auto data = samples(*trainer, 0);
  for (auto& tensor : samples(*trainer, 4)) data.push_back(std::move(tensor));
  Diary diary;
  train(*trainer, std::move(data), 0.1, &diary);
  EXPECT_EQ(diary.lines(), (std::vector<std::string>{"input", "forward", "backward", "input", "forward",
                                                     "backward", "optimizer", "end"}));
}

TEST(Trainer, ReportsEffectiveSettings) {
  plugin::TrainSettings settings;
  settings.layout = "channels_last";
  settings.optimizer.name = "adamw";
  settings.deterministic = true;
  settings.options["cudnn_benchmark"] = "true";
  const auto trainer = make_trainer({.settings = settings});
  train(*trainer, samples(*trainer, 0), 0.01);
  EXPECT_EQ(setting_of(*trainer, "memory_format"), "channels_last");
  EXPECT_EQ(setting_of(*trainer, "optimizer"), "_fused_adamw_");
  EXPECT_EQ(setting_of(*trainer, "deterministic"), "on");
  EXPECT_EQ(setting_of(*trainer, "threads"), "1");
  EXPECT_EQ(setting_of(*trainer, "ddp"), "off");
  EXPECT_EQ(trainer->info().settings.back().second, "no effect on a CPU");
  EXPECT_EQ(trainer->info().parameters, 25'626);
  EXPECT_EQ(trainer->info().parameter_tensors, 8);
  make_trainer({});  // leaves deterministic mode for the tests that follow
}

TEST(Trainer, ClipsTheNormOfAllGradients) {
  auto settings = separable();
  const auto plain = make_trainer({.settings = settings});
  settings.clip_norm = 0.25;
  const auto clipped = make_trainer({.settings = settings});
  const auto start = weights_of(*plain);
  for (const auto* trainer : {&plain, &clipped}) train(**trainer, samples(**trainer, 0), 1);
  EXPECT_GT(norm_of(gradient_of(start, weights_of(*plain))), 1);
  EXPECT_NEAR(norm_of(gradient_of(start, weights_of(*clipped))), 0.25, 1e-4);
}

TEST(Trainer, NesterovAndWeightDecayFollowTheirFormula) {
  auto settings = separable();
  const auto plain = make_trainer({.settings = settings});
  settings.optimizer.momentum = 0.9;
  settings.optimizer.nesterov = true;
  settings.optimizer.weight_decay = 0.01;
  const auto nesterov = make_trainer({.settings = settings});
  const auto start = weights_of(*plain);
  train(*plain, samples(*plain, 0), 1);
  train(*nesterov, samples(*nesterov, 0), 0.1);
  auto wanted = start;
  const auto gradient = gradient_of(start, weights_of(*plain));
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < start[i].size(); ++j)
      wanted[i][j] -= 0.1F * 1.9F * (gradient[i][j] + 0.01F * start[i][j]);
  EXPECT_LE(difference(weights_of(*nesterov), wanted), 1e-6);
}

TEST(Trainer, AdamWFollowsItsFormula) {
  auto settings = separable();
  const auto plain = make_trainer({.settings = settings});
  settings.optimizer.name = "adamw";
  settings.optimizer.weight_decay = 0.1;
  settings.optimizer.eps = 1e-3;  // large, so that the gradient's size shows
  const auto adamw = make_trainer({.settings = settings});
  const auto start = weights_of(*plain);
  train(*plain, samples(*plain, 0), 1);
  train(*adamw, samples(*adamw, 0), 0.01);
  auto wanted = start;
  const auto gradient = gradient_of(start, weights_of(*plain));
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < start[i].size(); ++j) {
      const float g = gradient[i][j];
      wanted[i][j] += -0.01F * 0.1F * start[i][j] - 0.01F * g / (std::abs(g) + 1e-3F);
    }
  EXPECT_LE(difference(weights_of(*adamw), wanted), 1e-5);
}

// Weight decay is part of the gradient here, and not of the step.
TEST(Trainer, AdamFollowsItsFormula) {
  auto settings = separable();
  const auto plain = make_trainer({.settings = settings});
  settings.optimizer.name = "adam";
  settings.optimizer.weight_decay = 0.1;
  settings.optimizer.eps = 1e-3;
  const auto adam = make_trainer({.settings = settings});
  const auto start = weights_of(*plain);
  train(*plain, samples(*plain, 0), 1);
  train(*adam, samples(*adam, 0), 0.01);
  EXPECT_EQ(setting_of(*adam, "optimizer"), "_fused_adam_");
  auto wanted = start;
  const auto gradient = gradient_of(start, weights_of(*plain));
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < start[i].size(); ++j) {
      const float g = gradient[i][j] + 0.1F * start[i][j];
      wanted[i][j] -= 0.01F * g / (std::abs(g) + 1e-3F);
    }
  EXPECT_LE(difference(weights_of(*adam), wanted), 1e-5);
}

TEST(Trainer, AccumulationEqualsTheLargeBatch) {
  auto settings = separable();
  const auto whole = make_trainer({.batch = 8, .settings = settings});
  settings.accumulation_steps = 2;
  const auto parts = make_trainer({.batch = 4, .settings = settings});
  for (int step = 0; step < 10; ++step) {
    const auto a = train(*whole, samples(*whole, 8 * step), 0.05);
    auto data = samples(*parts, 8 * step);
    for (auto& tensor : samples(*parts, 8 * step + 4)) data.push_back(std::move(tensor));
    const auto b = train(*parts, std::move(data), 0.05);
    EXPECT_NEAR(a.loss, b.loss, 1e-5 * a.loss);
    EXPECT_EQ(b.judged, 8);
  }
  EXPECT_LE(difference(weights_of(*parts), weights_of(*whole)), 1e-5);
}

TEST(Trainer, ChannelsLastComputesTheSame) {
  auto settings = separable();
  const auto plain = make_trainer({.settings = settings});
  settings.layout = "channels_last";
  const auto last = make_trainer({.settings = settings});
  for (int step = 0; step < 3; ++step)
    for (const auto* trainer : {&plain, &last}) train(**trainer, samples(**trainer, 4 * step), 0.05);
  EXPECT_LE(difference(weights_of(*last), weights_of(*plain)), 1e-5);
}

TEST(Trainer, Bf16StaysNearFp32) {
  auto settings = separable();
  const auto exact = make_trainer({.settings = settings});
  settings.precision = "bf16";
  settings.options["emulate_16bit"] = "true";
  const auto rounded = make_trainer({.settings = settings});
  for (int step = 0; step < 3; ++step) {
    const auto a = train(*exact, samples(*exact, 0), 0.01), b = train(*rounded, samples(*rounded, 0), 0.01);
    EXPECT_NEAR(a.loss, b.loss, 0.03 * a.loss);
    EXPECT_NE(a.loss, b.loss);
  }
  EXPECT_EQ(setting_of(*rounded, "autocast"), "BFloat16");
}

TEST(Trainer, AmpScalesSkipsAndGrows) {
  auto settings = separable();
  settings.precision = "amp";
  settings.options = {{"freeze_batch_norm", "true"},
                      {"emulate_16bit", "true"},
                      {"init_scale", "1024"},
                      {"growth_interval", "2"}};
  const auto trainer = make_trainer({.settings = settings});
  EXPECT_EQ(train(*trainer, samples(*trainer, 0), 0.01).loss_scale, 1024);
  const auto before = trainer->fingerprint();
  auto bad = samples(*trainer, 0);
  bad[0].as<float>()[0] = INFINITY;
  const auto skipped = train(*trainer, std::move(bad), 0.01);
  EXPECT_TRUE(skipped.skipped);
  EXPECT_EQ(skipped.loss_scale, 512);
  EXPECT_EQ(trainer->fingerprint(), before);
  EXPECT_EQ(train(*trainer, samples(*trainer, 0), 0.01).loss_scale, 512);
  EXPECT_EQ(train(*trainer, samples(*trainer, 0), 0.01).loss_scale, 1024);  // two good ones in a row
  EXPECT_NE(trainer->fingerprint(), before);
}

TEST(Trainer, RefusesSettingsThatDoNotExist) {
  const auto refused = [](ErrorCode code, auto change, const std::string& words) {
    plugin::TrainSettings settings;
    change(settings);
    expect_error(code, [&] { make_trainer({.settings = settings}); }, {words});
  };
  const auto usage = ErrorCode::kUsage;
  refused(
      usage, [](auto& s) { s.optimizer.name = "adagrad"; }, "sgd, adamw, adam");
  refused(
      usage, [](auto& s) { s.optimizer.momentum = 1; }, "momentum is 1");
  refused(
      usage, [](auto& s) { s.precision = "fp8"; }, "fp32, tf32, amp, bf16");
  refused(
      usage, [](auto& s) { s.layout = "nhwc"; }, "contiguous, channels_last");
  refused(
      usage, [](auto& s) { s.accumulation_steps = 0; }, "accumulation_steps is 0");
  refused(
      usage, [](auto& s) { s.clip_norm = -1; }, "clip_norm is -1");
  refused(
      usage, [](auto& s) { s.options["speed"] = "fast"; }, "no option 'speed'");
  refused(
      usage, [](auto& s) { s.options["init_scale"] = "big"; }, "init_scale is 'big'");
  refused(
      ErrorCode::kUnsupported, [](auto& s) { s.precision = "tf32"; }, "NVIDIA GPUs");
}

TEST(Trainer, RefusesModelsAndDataItCannotUse) {
  expect_error(ErrorCode::kUnsupported, [&] { make_trainer({.model = "peak_gemm"}); }, {"resnet50"});
  expect_error(ErrorCode::kUsage, [&] { make_trainer({.model = "gpt2", .batch = 1, .length = 1}); },
               {"2 or more"});
  const auto trainer = make_trainer({});
  auto foreign = samples(*trainer, 0);
  foreign[1].as<std::int64_t>()[2] = 10;
  expect_error(ErrorCode::kData, [&] { train(*trainer, std::move(foreign), 0.1); },
               {"label 10 at position 2", "10 (0 to 9)"});
  auto short_of_one = samples(*trainer, 0);
  short_of_one.pop_back();
  expect_error(ErrorCode::kUsage, [&] { train(*trainer, std::move(short_of_one), 0.1); },
               {"takes 2 tensors, 1 given"});
  EXPECT_GT(train(*trainer, samples(*trainer, 0), 0.1).loss, 0);  // goes on
}

TEST(Trainer, LanguageModelLearnsTheNextToken) {
  const auto trainer = make_trainer({.model = "gpt2", .batch = 1, .length = 4});
  EXPECT_EQ(trainer->batch_specs().size(), 1u);
  const auto first = train(*trainer, samples(*trainer, 0), 0.05);
  EXPECT_EQ(first.judged, 3);
  EXPECT_GT(first.loss, 5);
  EXPECT_LT(train(*trainer, samples(*trainer, 0), 0.05).loss, first.loss);
  auto foreign = samples(*trainer, 0);
  foreign[0].as<std::int64_t>()[1] = 50257;
  expect_error(ErrorCode::kData, [&] { train(*trainer, std::move(foreign), 0.1); }, {"token 50257"});
}

}  // namespace
}  // namespace paceline::torch_test
