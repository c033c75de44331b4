// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "driver.h"

// Parameter counts and work of the built-in models against closed forms, and agreement of the two engines.
namespace paceline::torch_test {
namespace {

// Multiply-adds of a transformer encoder or decoder stack: projections, feed-forward, and both attention
// products.
double stack_macs(double layers, double width, double hidden, double length) {
  return layers * ((4 * width * width + 2 * width * hidden) * length + 2 * length * length * width);
}

// Convolutions of ResNet-50 v1.5 from its table of stages; the stride sits in the 3x3 convolution.
double resnet50_macs() {
  struct Stage {
    double width, blocks, stride;
  };
  double macs = 112 * 112 * 64 * 3 * 49, side = 56, in = 64;
  for (const auto& [width, blocks, stride] : {Stage{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}}) {
    for (int block = 0; block < blocks; ++block) {
      const double out_side = block == 0 ? side / stride : side;
      macs += side * side * in * width + out_side * out_side * (9 * width * width + 4 * width * width);
      if (block == 0) macs += out_side * out_side * in * 4 * width;
      side = out_side;
      in = 4 * width;
    }
  }
  return macs + 2048 * 1000;
}

double vit_macs() {
  return 196.0 * 768 * 768 + stack_macs(12, 768, 3072, 197) + 768 * 1000;
}
double bert_macs(double length) {
  return stack_macs(24, 1024, 4096, length) + 1024 * 1024;
}  // with the pooler
double gpt2_macs(double length) {
  return stack_macs(12, 768, 3072, length) + length * 768 * 50257;
}
double tiny_macs() {
  return 32 * 32 * 16 * 27 + 16 * 16 * 32 * 144 + 2048 * 10;
}

TEST(ClosedForms, EqualTheGoldenValues) {
  EXPECT_EQ(resnet50_macs(), 4'089'184'256);
  EXPECT_EQ(vit_macs(), 17'563'828'224);
  EXPECT_EQ(bert_macs(128) - 1024 * 1024, 39'460'012'032);
  EXPECT_EQ(bert_macs(384) - 1024 * 1024, 123'211'874'304);
  EXPECT_EQ(gpt2_macs(1024), 145'824'153'600);
}

struct Golden {
  const char* model;
  std::int64_t parameters;
  double macs_per_sample;  // at a sequence length of 8
  int operators;           // convolutions, matrix products, attentions
  Shape output;            // of two samples
};
void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.model;
}

class BuiltInModel : public testing::TestWithParam<Golden> {};

void expect_golden_work(plugin::Engine& engine, const Golden& golden) {
  const auto read = engine.read_back(0);
  EXPECT_EQ(read.flops, 2 * 2 * golden.macs_per_sample);
  ASSERT_EQ(read.precisions.size(), 1u);
  EXPECT_EQ(read.precisions[0].precision, "fp32");
  EXPECT_DOUBLE_EQ(read.precisions[0].flops_share, 1);
  EXPECT_EQ(read.precisions[0].operators, golden.operators);
}

// Random weights must not make a network that answers nearly the same to every sample, nor one that explodes.
void expect_two_distinct_answers_in_range(const std::vector<float>& y) {
  double difference = 0, total = 0;
  for (std::size_t i = 0; i < y.size() / 2; ++i) {
    const double a = y[i], b = y[i + y.size() / 2];
    ASSERT_TRUE(std::isfinite(a) && std::isfinite(b));
    difference += (a - b) * (a - b) / 2;
    total += a * a + b * b;
  }
  EXPECT_GT(std::sqrt(difference / total), 0.1);
  const double rms = std::sqrt(total / static_cast<double>(y.size()));
  EXPECT_GT(rms, 0.1);
  EXPECT_LT(rms, 10);
}

// TorchScript is traced with one sample and run with two: no batch size is baked in.
TEST_P(BuiltInModel, HasGoldenSizeAndWorkUnderBothEngines) {
  const auto& golden = GetParam();
  auto data = data_for(inputs_of(golden.model, 2));
  std::vector<float> expected;
  for (const std::string name : {"eager", "torchscript"}) {
    SCOPED_TRACE(name);
    const auto engine =
        load({.model = golden.model, .engine = name, .batch = name == "eager" ? 2 : 1, .threads = 1});
    EXPECT_EQ(setting(*engine, "parameters"), std::to_string(golden.parameters));
    bind(*engine, data);
    expect_golden_work(*engine, golden);
    const auto y = as_floats(engine->synchronize(0)[0]);
    EXPECT_EQ(engine->synchronize(0)[0].shape, golden.output);
    if (expected.empty()) expect_two_distinct_answers_in_range(expected = y);
    EXPECT_LE(relative_error(y, expected), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInModel,
                         testing::Values(Golden{"resnet50", 25'557'032, resnet50_macs(), 54, {2, 1000}},
                                         Golden{"vit_b_16", 86'567'656, vit_macs(), 62, {2, 1000}},
                                         Golden{"bert-large", 335'141'888, bert_macs(8), 169, {2, 1024}},
                                         Golden{"gpt2", 124'439'808, gpt2_macs(8), 61, {2, 8, 50257}},
                                         Golden{"tiny_cnn", 25'626, tiny_macs(), 3, {2, 10}}),
                         [](const auto& p) {
                           std::string name = p.param.model;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PeakModels, DoTheWorkTheyClaim) {
  const auto gemm = load({.model = "peak_gemm", .batch = 2048});
  auto a = data_for(inputs_of("peak_gemm", 2048));
  bind(*gemm, a);
  EXPECT_EQ(gemm->read_back(0).flops, 2.0 * 2048 * 2048 * 2048);
  const auto convolution = load({.model = "peak_conv", .engine = "torchscript", .batch = 8});
  auto images = data_for(inputs_of("peak_conv", 8));
  bind(*convolution, images);
  EXPECT_EQ(convolution->read_back(0).flops, 2.0 * 8 * 56 * 56 * 128 * 128 * 9);
}

}  // namespace
}  // namespace paceline::torch_test
