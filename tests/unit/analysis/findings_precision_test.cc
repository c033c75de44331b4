// SPDX-License-Identifier: MIT
// Findings about the precision that ran, where it is not the one asked for.
#include <gtest/gtest.h>

#include "unit/analysis/findings_of.h"

namespace paceline::analysis {
namespace {

using result::RunResult;

TEST(Findings, PrecisionFallback) {
  RunResult run = quiet_run();
  run.cases[0].precision = {"amp_bf16", {{"bf16", 0.3, 10}, {"fp32", 0.7, 43}}, "profiler"};
  const auto found = of_kind(run, "precision_fallback");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "resnet50 eager fp32 b1 asked for amp_bf16, but its FLOPs ran 30 % in bf16, 70 % in fp32.");
  run.cases[0].precision.executed = {{"bf16", 0.95, 53}};
  EXPECT_TRUE(of_kind(run, "precision_fallback").empty());
  run.cases[0].precision.executed.clear();
  EXPECT_TRUE(of_kind(run, "precision_fallback").empty());
  run.cases[0].precision.executed = {{"fp32", 0.7, 43}, {"int8", 0.3, 10}};
  run.cases[0].precision.asked = "auto";  // nothing was asked for
  EXPECT_TRUE(of_kind(run, "precision_fallback").empty());
}

// Weights and arithmetic are two facts; the case was asked for neither.
TEST(Findings, WeightsOfAnotherTypeAreNamedBesideTheArithmetic) {
  RunResult run = quiet_run();
  auto& precision = run.cases[0].precision;
  precision = {"auto", {{"int8", 1, 13, "int4"}}, "runtime model"};
  const auto found = of_kind(run, "narrow_weights");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text, "resnet50 eager fp32 b1 ran 100 % of its FLOPs in int8 on int4 weights.");
  EXPECT_EQ(found[0].advice, "Activations are rounded to 8 bits; --precision fp32 keeps them in float.");
  precision.executed = {{"fp32", 1, 13, "int4"}};
  EXPECT_EQ(of_kind(run, "narrow_weights").at(0).advice, "");
  precision.executed = {{"fp32", 1, 13}};
  EXPECT_TRUE(of_kind(run, "narrow_weights").empty());
  precision.asked = "bf16", precision.executed = {{"fp32", 1, 13, "fp16"}};
  EXPECT_EQ(of_kind(run, "precision_fallback").at(0).text,
            "resnet50 eager fp32 b1 asked for bf16, but its FLOPs ran 100 % in fp16 × fp32.");
}

TEST(Findings, LayersThatRanInFloatAreNamedWithTheirReason) {
  RunResult run = quiet_run();
  auto& precision = run.cases[0].precision;
  precision = {"int8", {{"int8", 0.9, 13}, {"fp32", 0.1, 3}}, "profiler"};
  precision.in_float = {
      {"convolution", "fp32", 2, 12, 0.08, "conv1", "the weights are computed", "Export them."},
      {"matrix product", "fp32", 1, 4, 0.02, "fc", "the file does not quantise them", "Quantise it."}};
  run.cases[0].model_file.quantisation.excluded = {"fc"};
  const auto found = of_kind(run, "float_layers");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].text,
      "resnet50 eager fp32 b1: 2 of 12 convolutions ran in fp32 (8 % of the FLOPs), because the weights are "
      "computed: 'conv1' …; 1 of 4 matrix products ran in fp32 (2 % of the FLOPs), because "
      "quantisation.exclude "
      "names them: 'fc'.");
  EXPECT_EQ(found[0].advice, "Export them. Quantise it.");
  precision.in_float = {{"operator", "fp32", 3, 55, 0.02, "", "", ""}};
  EXPECT_EQ(of_kind(run, "float_layers").at(0).text,
            "resnet50 eager fp32 b1: 3 of 55 operators ran in fp32 (2 % of the FLOPs).");
  precision.in_float[0].flops_share = 0.004;
  EXPECT_TRUE(of_kind(run, "float_layers").empty()) << "too little to matter";
}

}  // namespace
}  // namespace paceline::analysis
