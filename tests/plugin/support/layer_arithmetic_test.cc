// SPDX-License-Identifier: MIT
// Which arithmetic OpenVINO's layers have, on CPUs with and without instructions for 8-bit activations: what
// its runtime model says is the same on both.
#include "openvino/layer_arithmetic.h"

#include <gtest/gtest.h>

namespace paceline::openvino_plugin {
namespace {

using plugin_support::LayerWork;
using Pair = std::pair<std::string, std::string>;

Pair of(const LayerTypes& types) {
  const auto [precision, weights] = arithmetic_of(types);
  return {precision, weights};
}

// runtimePrecision is the type of the weights where these are narrower.
TEST(LayerArithmetic, ActivationsDecideAndWeightsAreNamedBesideThem) {
  EXPECT_EQ(of({"f32", "f32", "f32"}), Pair("fp32", ""));
  EXPECT_EQ(of({"f16", "f32", "f16"}), Pair("fp32", "fp16")) << "save_model's default";
  EXPECT_EQ(of({"i4", "f32", "i4"}), Pair("fp32", "int4"));
  EXPECT_EQ(of({"u4", "f32", "u4"}), Pair("fp32", "int4"));
  EXPECT_EQ(of({"i8", "bf16", "i8"}), Pair("bf16", "int8"));
  EXPECT_EQ(of({"u8", "u8", "i8"}), Pair("int8", "")) << "a quantised layer";
  EXPECT_EQ(of({"bf16", "bf16", "bf16"}), Pair("bf16", ""));
  EXPECT_EQ(of({"bf16", "bf16", "f32"}), Pair("bf16", "")) << "converted when the model was compiled";
  EXPECT_EQ(of({"bf16", "bf16", "f16"}), Pair("bf16", "fp16"));
  EXPECT_EQ(of({"dynamic", "", ""}), Pair("dynamic", ""));
  EXPECT_EQ(of({"bf16", "f32", "f32"}), Pair("bf16", "")) << "neither of its inputs has this type";
  EXPECT_EQ(of({"u8", "", ""}), Pair("int8", "")) << "a fused layer";
}

std::vector<LayerWork> layers() {
  return {{{"fc", "FullyConnected", "fp32", {}, 8, {}, "int4"}, 1},
          {{"fc8", "FullyConnected", "fp32", {}, 8, {}, "int8"}, 1},
          {{"half", "FullyConnected", "fp32", {}, 8, {}, "fp16"}, 1},
          {{"plain", "FullyConnected", "fp32", {}, 8, {}, ""}, 1},
          {{"bf16", "FullyConnected", "bf16", {}, 8, {}, "int4"}, 1},
          {{"conv", "Convolution", "fp32", {}, 8, {}, "int8"}, 1}};
}

TEST(LayerArithmetic, OnlyProductsOfFloatAndIntegersMayRound) {
  std::vector<std::string> may;
  for (const auto& work : layers())
    if (may_round_activations(work)) may.push_back(work.layer.name);
  EXPECT_EQ(may, (std::vector<std::string>{"fc", "fc8"}));
}

// With VNNI, where the outputs show that activations were rounded. Without, nothing is set.
TEST(LayerArithmetic, RoundedProductsAreInt8WhateverTheirWeights) {
  auto all = layers();
  set_rounded(all);
  std::vector<std::string> precisions;
  for (const auto& work : all) precisions.push_back(work.layer.precision);
  EXPECT_EQ(precisions, (std::vector<std::string>{"int8", "int8", "fp32", "fp32", "bf16", "fp32"}));
  EXPECT_EQ(all[0].layer.weights, "int4");
  const auto read = plugin_support::read_back_of(all, "");
  EXPECT_EQ(read.precisions.size(), 6U) << "by arithmetic and weights";
}

}  // namespace
}  // namespace paceline::openvino_plugin
