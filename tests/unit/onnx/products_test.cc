// SPDX-License-Identifier: MIT
#include "onnx/products.h"

#include <gtest/gtest.h>

#include "model_builder.h"

namespace paceline::onnx {
namespace {

// y = x·w + b, with weights [2, 3].
ModelBuilder product(const Shape& bias = {3}, const Floats& values = {1, 2, 3}) {
  ModelBuilder b;
  b.input("x", {-1, 2}).output("y").weights("w", {2, 3}).weights("b", bias, values);
  b.node("MatMul", {"x", "w"}, "m").node("Add", {"b", "m"}, "y");
  return b;
}

ModelBuilder gemm(const Names& inputs, float alpha = 1, float beta = 1) {
  ModelBuilder b;
  b.input("x", {-1, 2}).input("r", {-1, 3}).output("y").weights("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  b.weights("b", {3}, {1, 2, 3})
      .weights("row", {1, 3}, {1, 2, 3})
      .weights("one", {1}, {7})
      .node("Gemm", inputs, "y");
  set_attribute(b.last(), "alpha", alpha);
  set_attribute(b.last(), "beta", beta);
  return b;
}

proto::ModelProto& settled(ModelBuilder& b, const Ranks& ranks) {
  settle_products(b.model(), place(b.model(), {}), ranks);
  return b.model();
}

Floats constant(const proto::ModelProto& model, const std::string& node, int input) {
  return floats_of(*find_tensor(model, find_node(model, node)->input(input)));
}

TEST(Products, AProductOfMatricesTakesItsBiasIn) {
  auto b = product();
  const auto& model = settled(b, {{"x", 2}});
  ASSERT_EQ(model.graph().node_size(), 1);
  const auto& node = model.graph().node(0);
  EXPECT_EQ(node.op_type(), "Gemm");
  EXPECT_EQ(node.output(0), "y");
  EXPECT_EQ(layer_name(node), "m") << "so that exclusions by name hold";
  EXPECT_EQ(constant(model, "y", 2), (Floats{1, 2, 3}));
}

TEST(Products, WithMoreDimensionsTheBiasStaysApart) {
  auto b = product();
  const auto& model = settled(b, {{"x", 3}});
  EXPECT_EQ(find_node(model, "m")->op_type(), "MatMul");
  const auto& bias = *find_tensor(model, find_node(model, "y")->input(0));
  EXPECT_EQ(shape_of(bias), (Shape{1, 3}));
  EXPECT_EQ(floats_of(bias), (Floats{1, 2, 3}));
}

TEST(Products, WithoutARankOrWithOneDimensionNothingChanges) {
  for (const Ranks& ranks : {Ranks{}, Ranks{{"x", 1}}}) {
    auto b = product();
    const auto& model = settled(b, ranks);
    EXPECT_EQ(find_node(model, "m")->op_type(), "MatMul");
    EXPECT_EQ(find_node(model, "y")->input(0), "b");
  }
}

TEST(Products, AddsOtherShapesThanRowsSeparately) {
  for (const Shape& shape : {Shape{2, 3}, Shape{1, 1, 3}, Shape{3, 1}}) {
    auto b = product(shape, Floats(static_cast<std::size_t>(element_count(shape)), 1));
    const auto& model = settled(b, {{"x", 2}});
    EXPECT_EQ(find_node(model, "m")->op_type(), "Gemm");
    EXPECT_EQ(constant(model, "m", 2), Floats(3));
    EXPECT_EQ(find_node(model, "y")->input(0), "b");
  }
}

TEST(Products, AProductThatOthersReadKeepsItsForm) {
  auto b = product();
  b.output("m");
  EXPECT_EQ(find_node(settled(b, {{"x", 2}}), "m")->op_type(), "MatMul");
}

TEST(Products, FactorsOfAGemmMoveIntoItsConstants) {
  auto b = gemm({"x", "w", "b"}, 0.5F, 2);
  const auto& model = settled(b, {});
  EXPECT_EQ(constant(model, "y", 1), (Floats{0.5F, 1, 1.5F, 2, 2.5F, 3}));
  EXPECT_EQ(constant(model, "y", 2), (Floats{2, 4, 6}));
  for (const char* factor : {"alpha", "beta"})
    EXPECT_EQ(find_attribute(*find_node(model, "y"), factor)->f(), 1) << factor;
}

TEST(Products, EveryGemmHasABiasPerColumn) {
  struct Row {
    Names inputs;
    Floats bias;
  };
  for (const Row& row :
       {Row{{"x", "w"}, {0, 0, 0}}, Row{{"x", "w", ""}, {0, 0, 0}}, Row{{"x", "w", "b"}, {1, 2, 3}},
        Row{{"x", "w", "row"}, {1, 2, 3}}, Row{{"x", "w", "one"}, {7, 7, 7}}}) {
    auto b = gemm(row.inputs);
    const auto& model = settled(b, {});
    EXPECT_EQ(constant(model, "y", 2), row.bias);
    EXPECT_EQ(find_tensor(model, find_node(model, "y")->input(2))->dims_size(), 1);
    EXPECT_EQ(model.graph().node_size(), 1);
  }
}

TEST(Products, AnAddendThatIsNoConstantGetsItsOwnNode) {
  auto b = gemm({"x", "w", "r"}, 1, 3);
  const auto& model = settled(b, {});
  const auto& sum = *find_node(model, "y");
  EXPECT_EQ(sum.op_type(), "Add");
  const auto& gemm = *find_node(model, sum.input(0));
  EXPECT_EQ(gemm.op_type(), "Gemm");
  EXPECT_EQ(layer_name(gemm), "y");
  EXPECT_EQ(constant(model, sum.input(0), 2), Floats(3));
  const auto& scaled = *find_node(model, sum.input(1));
  EXPECT_EQ(scaled.op_type(), "Mul");
  EXPECT_EQ(scaled.input(0), "r");
  EXPECT_EQ(floats_of(*find_tensor(model, scaled.input(1))), Floats{3});
}

}  // namespace
}  // namespace paceline::onnx
