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

TEST(OneLayer, MovesByOneUnitInTheLastPlace) {
  auto model = two_outputs();
  move_weights(model, layers_towards(model, "y")[0], 1);
  const auto moved = floats_of(model.graph().initializer(0));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(moved[i] == std::nextafter(kWeights[i], 9.0F) ||
                moved[i] == std::nextafter(kWeights[i], -9.0F));
}

TEST(OneLayer, CountsSubnormalWeights) {
  EXPECT_DOUBLE_EQ(subnormal_share(two_outputs()), 0.25);
  EXPECT_DOUBLE_EQ(subnormal_share({}), 0);
}

}  // namespace
}  // namespace paceline::onnx
