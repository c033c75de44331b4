// SPDX-License-Identifier: MIT
#include "onnx/one_layer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

const std::vector<float> kWeights{0.1F, -0.2F, 0.3F, 1e-40F};

// x -> MatMul(w1) -> MatMul(w2) -> y, and x -> MatMul(w3) -> z.
proto::ModelProto two_outputs() {
  proto::ModelProto model;
  auto& graph = *model.mutable_graph();
  const auto add = [&](const std::string& name, const std::string& from, const std::string& weight,
                       const std::string& to) {
    add_node(graph, "MatMul", name, std::array{from, weight}, std::array{to});
    *graph.add_initializer() = make_tensor(weight, {2, 2}, kWeights);
  };
  add("first", "x", "w1", "h");
  add("second", "h", "w2", "y");
  add("other", "x", "w3", "z");
  return model;
}

TEST(OneLayer, OnlyLayersOnTheWayToAnOutput) {
  auto model = two_outputs();
  const auto layers = layers_towards(model, "y");
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].name, "first");
  EXPECT_EQ(layers[1].name, "second");
  EXPECT_EQ(layers_towards(model, "z").size(), 1U);
}

TEST(OneLayer, RoundsWhatBfloat16CannotHold) {
  auto model = two_outputs();
  const auto layers = layers_towards(model, "y");
  round_to_bfloat16(model, layers[1]);
  EXPECT_EQ(floats_of(model.graph().initializer(0)), kWeights);
  const auto rounded = floats_of(model.graph().initializer(1));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NE(rounded[i], kWeights[i]);
    EXPECT_NEAR(rounded[i], kWeights[i], std::abs(kWeights[i]) / 256);
  }
  EXPECT_EQ(layers_towards(model, "y").size(), 1U) << "what is rounded loses nothing any more";
}

TEST(OneLayer, MovesEveryNumberByOneUnitInTheLastPlace) {
  proto::ModelProto model = two_outputs();
  auto& graph = *model.mutable_graph();
  const std::vector<float> summands{0, 1e4F, -3.4e38F};
  const double wide = 0.1;
  *graph.add_initializer() = make_tensor("c", {3}, summands);
  *graph.add_initializer() = make_tensor("d", DType::kFloat64, {1}, &wide);
  *graph.add_initializer() = make_tensor("limit", {1}, std::vector<float>{6});
  model.add_opset_import()->set_version(17);
  add_node(graph, "Add", "sum", std::array<std::string, 2>{"y", "c"}, std::array<std::string, 1>{"u"});
  add_node(graph, "Mul", "scaled", std::array<std::string, 2>{"u", "d"}, std::array<std::string, 1>{"v"});
  add_node(graph, "Min", "cut", std::array<std::string, 2>{"v", "limit"}, std::array<std::string, 1>{"w"});
  move_all_weights(model, 1);
  const auto is_neighbour = [](float moved, float value) {
    return moved == std::nextafter(value, 9e9F) || moved == std::nextafter(value, -9e9F);
  };
  for (int tensor = 0; tensor < 3; ++tensor) {
    const auto moved = floats_of(graph.initializer(tensor));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(is_neighbour(moved[i], kWeights[i]));
  }
  const auto moved = floats_of(graph.initializer(3));
  EXPECT_EQ(moved[0], 0);
  EXPECT_TRUE(is_neighbour(moved[1], 1e4F));
  EXPECT_EQ(moved[2], summands[2]) << "a mask";
  EXPECT_NEAR(std::abs(doubles_of(graph.initializer(4))[0] - wide), wide * 0x1p-24, 1e-12);
  EXPECT_EQ(floats_of(graph.initializer(5))[0], 6) << "a limit is no summand";
  const auto& scaled = graph.node(4);
  EXPECT_EQ(scaled.op_type(), "Mul") << "follows the sum with a constant";
  EXPECT_EQ(scaled.output(0), "u");
  EXPECT_EQ(floats_of(graph.initializer(6))[0], std::nextafter(1.0F, 2.0F));
}

TEST(OneLayer, CountsSubnormalWeights) {
  EXPECT_DOUBLE_EQ(subnormal_share(two_outputs()), 0.25);
  EXPECT_DOUBLE_EQ(subnormal_share({}), 0);
}

}  // namespace
}  // namespace paceline::onnx
