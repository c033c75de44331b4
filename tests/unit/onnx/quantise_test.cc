// SPDX-License-Identifier: MIT
#include "onnx/quantise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "model_builder.h"

namespace paceline::onnx {
namespace {

// y = Relu(Conv(x)), channels scaled very differently; z = Gemm(Flatten(y)).
ModelBuilder small_model() {
  ModelBuilder b;
  b.input("x", {-1, 2, 1, 1}).output("z");
  b.weights("w", {2, 2, 1, 1}, {127, 12.7F, -0.0127F, 0.0054F}).weights("b", {2}, {1, -2});
  b.node("Conv", {"x", "w", "b"}, "c").node("Relu", {"c"}, "r").node("Flatten", {"r"}, "f");
  b.weights("fw", {1, 2}, {1, -1}).weights("fb", {1}, {3}).node("Gemm", {"f", "fw", "fb"}, "z");
  set_attribute(b.last(), "transB", std::int64_t{1});
  return b;
}

const Ranges kRanges{{"x", {-1, 1.55F}}, {"r", {0, 255}}};

const proto::TensorProto& input_tensor(const proto::ModelProto& m, const std::string& node, int input) {
  return *find_tensor(m, find_node(m, node)->input(input));
}

std::vector<int> bytes_of(const proto::TensorProto& t) {
  std::vector<int> values;
  for (const char c : t.raw_data()) values.push_back(static_cast<signed char>(c));
  return values;
}

std::string dequantize_of(const proto::ModelProto& m, const std::string& node, int input) {
  const auto& name = find_node(m, node)->input(input);
  EXPECT_EQ(find_node(m, name)->op_type(), "DequantizeLinear");
  return name;
}

TEST(Quantise, UnsignedFileHasPairsOnActivationsAndIntegerBias) {
  auto b = small_model();
  const auto report = quantise(b.model(), kRanges, {});
  EXPECT_EQ(report.layers.size(), 2U);
  EXPECT_EQ(report.weight_bits, 8);
  EXPECT_EQ(report.activations, "uint8");
  EXPECT_EQ(report.bias, "int32");
  EXPECT_EQ(count_op(b.model(), "QuantizeLinear"), 3);
  EXPECT_EQ(count_op(b.model(), "DequantizeLinear"), 3 + 2 + 2);
  EXPECT_EQ(find_node(b.model(), "r")->input(0), "c") << "nothing between a convolution and its Relu";
  const auto& scale = input_tensor(b.model(), "x/quantized", 1);
  EXPECT_FLOAT_EQ(floats_of(scale)[0], 0.01F);
  EXPECT_EQ(bytes_of(input_tensor(b.model(), "x/quantized", 2)), std::vector<int>{100});
  EXPECT_EQ(bytes_of(input_tensor(b.model(), "r/quantized", 2)), std::vector<int>{0}) << "after a Relu";
  EXPECT_EQ(floats_of(input_tensor(b.model(), "f/quantized", 1)),
            floats_of(input_tensor(b.model(), "r/quantized", 1)));
}

TEST(Quantise, WeightsHaveAScaleAChannel) {
  auto b = small_model();
  quantise(b.model(), kRanges, {});
  const auto dq = dequantize_of(b.model(), "c", 1);
  EXPECT_EQ(int_attribute(*find_node(b.model(), dq), "axis", -1), 0);
  EXPECT_EQ(bytes_of(input_tensor(b.model(), dq, 0)), (std::vector<int>{127, 13, -127, 54}));
  const auto scales = floats_of(input_tensor(b.model(), dq, 1));
  EXPECT_FLOAT_EQ(scales[0], 1);
  EXPECT_FLOAT_EQ(scales[1], 1e-4F);
}

TEST(Quantise, BiasHasTheScaleOfItsSums) {
  auto b = small_model();
  quantise(b.model(), kRanges, {});
  const auto dq = dequantize_of(b.model(), "c", 2);
  const auto& tensor = input_tensor(b.model(), dq, 0);
  EXPECT_EQ(tensor.data_type(), proto::TensorProto::INT32);
  const auto integers = ints_of(tensor);
  EXPECT_EQ(integers[0], 100);         // 1 / (1 · 0.01)
  EXPECT_EQ(integers[1], -2'000'000);  // -2 / (1e-4 · 0.01)
}

TEST(Quantise, SignedFileIsSymmetricWithFloatBias) {
  auto b = small_model();
  const auto report = quantise(b.model(), kRanges, {.activations = Activations::kSigned});
  EXPECT_EQ(report.bias, "float32");
  EXPECT_EQ(find_node(b.model(), "c")->input(2), "b");
  const auto& zero = input_tensor(b.model(), "x/quantized", 2);
  EXPECT_EQ(zero.data_type(), proto::TensorProto::INT8);
  EXPECT_EQ(bytes_of(zero), std::vector<int>{0});
  EXPECT_FLOAT_EQ(floats_of(input_tensor(b.model(), "x/quantized", 1))[0], 1.55F / 127);
}

TEST(Quantise, SevenBitWeightsStayBelow64) {
  auto b = small_model();
  const auto report = quantise(b.model(), kRanges, {.reduce_range = true});
  EXPECT_EQ(report.weight_bits, 7);
  const auto dq = dequantize_of(b.model(), "c", 1);
  EXPECT_EQ(bytes_of(input_tensor(b.model(), dq, 0)), (std::vector<int>{63, 6, -63, 27}));
  EXPECT_FLOAT_EQ(floats_of(input_tensor(b.model(), dq, 1))[0], 127.0F / 63);
}

// Folding a dead channel leaves weights near 0 and a bias that matters: their usual scale would overflow it.
TEST(Quantise, AChannelWithoutWeightsKeepsItsBias) {
  ModelBuilder b;
  b.input("x", {-1, 1, 1, 1}).output("c");
  b.weights("w", {2, 1, 1, 1}, {1, 1e-20F}).weights("b", {2}, {0, 0.3F}).node("Conv", {"x", "w", "b"}, "c");
  quantise(b.model(), {{"x", {0, 1}}}, {});
  const auto dq = dequantize_of(b.model(), "c", 2);
  const auto integers = ints_of(input_tensor(b.model(), dq, 0));
  const auto scales = floats_of(input_tensor(b.model(), dq, 1));
  EXPECT_NEAR(static_cast<double>(integers[1]) * static_cast<double>(scales[1]), 0.3, 1e-6);
  EXPECT_EQ(bytes_of(input_tensor(b.model(), dequantize_of(b.model(), "c", 1), 0))[1], 0);
}

TEST(Quantise, AnActivationThatIsAlwaysZeroHasAUsableScale) {
  auto b = small_model();
  quantise(b.model(), {{"x", {0, 0}}, {"r", {0, 1}}}, {});
  EXPECT_EQ(floats_of(input_tensor(b.model(), "x/quantized", 1))[0], 1);
}

TEST(Quantise, ALayerWithoutARangeIsNamed) {
  auto b = small_model();
  try {
    quantise(b.model(), {{"x", {0, 1}}}, {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kData);
    EXPECT_NE(std::string(e.what()).find("layer 'f' reads 'r', which has no calibrated range"),
              std::string::npos)
        << e.what();
  }
}

TEST(Quantise, FloatWeightsGoAndOutputsKeepTheirNames) {
  auto b = small_model();
  quantise(b.model(), kRanges, {});
  EXPECT_EQ(find_tensor(b.model(), "w"), nullptr);
  EXPECT_EQ(find_tensor(b.model(), "fw"), nullptr);
  EXPECT_EQ(b.graph().output(0).name(), "z");
  EXPECT_EQ(find_node(b.model(), "z")->op_type(), "Gemm");
}

TEST(Quantise, AWeightOfTwoLayersIsQuantisedForBoth) {
  ModelBuilder b;
  b.input("x", {-1, 2}).output("z").weights("w", {2, 2}, {1, 2, 3, 4});
  b.node("MatMul", {"x", "w"}, "y").node("Relu", {"y"}, "r").node("MatMul", {"r", "w"}, "z");
  quantise(b.model(), {{"x", {0, 1}}, {"r", {0, 2}}}, {});
  EXPECT_NE(dequantize_of(b.model(), "y", 1), dequantize_of(b.model(), "z", 1));
  EXPECT_EQ(find_tensor(b.model(), "w"), nullptr);
}

TEST(IntegerTensor, ActivationScalesHoldZeroExactly) {
  for (const Range range : {Range{-1, 2}, Range{0.5F, 2}, Range{-3, -1}, Range{-0.001F, 1}}) {
    const auto s = activation_scale(range, Activations::kUnsigned);
    EXPECT_GE(s.zero_point, 0);
    EXPECT_LE(s.zero_point, 255);
    EXPECT_GE(s.scale * static_cast<float>(255 - s.zero_point), std::max(range.high, 0.0F) - s.scale);
    EXPECT_LE(-s.scale * static_cast<float>(s.zero_point), std::min(range.low, 0.0F) + s.scale);
  }
}

TEST(IntegerTensor, NoIntegerStandsForAValueOutsideAClip) {
  for (const Range range :
       {Range{-1, 1}, Range{0, 6}, Range{0, 0.1F}, Range{-0.3F, 0.2F}, Range{-0.98F, 0.99F}}) {
    const auto s = scale_inside(range, activation_scale(range, Activations::kUnsigned));
    EXPECT_LE(s.scale * static_cast<float>(255 - s.zero_point), range.high);
    EXPECT_LE(s.scale * static_cast<float>(s.zero_point), -range.low);
    EXPECT_GE(s.scale * 255, (range.high - range.low) * 0.99F) << "and hardly less is used";
  }
}

TEST(Quantise, AClipAfterAConvolutionCanBeDropped) {
  ModelBuilder b;
  b.input("x", {-1, 2, 1, 1}).output("y").conv("x", "c").weights("lo", {}, {-1}).weights("hi", {}, {1});
  b.node("Clip", {"c", "lo", "hi"}, "k").node("GlobalAveragePool", {"k"}, "y");
  quantise(b.model(), {{"x", {-1, 1}}, {"k", {-1, 1}}}, {});
  EXPECT_EQ(bytes_of(input_tensor(b.model(), "k/quantized", 2)), std::vector<int>{127});
  EXPECT_FLOAT_EQ(floats_of(input_tensor(b.model(), "k/quantized", 1))[0], 1.0F / 128);
}

TEST(IntegerTensor, ChannelsOfTheLastAxis) {
  const auto q = quantise_channels(Floats{127, 1, -63.5F, 2}, {2, 2}, 1, 8, {});
  EXPECT_EQ(q.values, (std::vector<std::int8_t>{127, 64, -64, 127}));
  EXPECT_FLOAT_EQ(q.scales[0], 1);
  EXPECT_FLOAT_EQ(q.scales[1], 2.0F / 127);
}

}  // namespace
}  // namespace paceline::onnx
