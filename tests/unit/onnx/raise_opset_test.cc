// SPDX-License-Identifier: MIT
#include "onnx/raise_opset.h"

#include <gtest/gtest.h>

#include "model_builder.h"
#include "onnx/quantise.h"

namespace paceline::onnx {
namespace {

ModelBuilder classifier(std::int64_t opset) {
  ModelBuilder b(opset);
  b.input("x", {-1, 2, 4, 4}).output("y", {-1, 2});
  b.conv("x", "c").node("Clip", {"c"}, "k");
  set_attribute(b.last(), "max", 6.0F);
  b.node("GlobalAveragePool", {"k"}, "p").node("Squeeze", {"p"}, "s");
  set_attribute(b.last(), "axes", std::vector<std::int64_t>{2, 3});
  b.node("Softmax", {"s"}, "y");
  return b;
}

TEST(RaiseOpset, AttributesBecomeTheInputsThatTheyAreLater) {
  auto b = classifier(9);
  const auto raised = raise_opset(b.model());
  EXPECT_EQ(raised.from, 9);
  EXPECT_EQ(raised.to, 13);
  EXPECT_EQ(raised.stopped_by, "");
  EXPECT_EQ(opset_version(b.model()), 13);
  const auto& clip = *find_node(b.model(), "k");
  ASSERT_EQ(clip.input_size(), 3);
  EXPECT_EQ(clip.input(1), "") << "no smallest value";
  EXPECT_EQ(floats_of(*find_tensor(b.model(), clip.input(2))), std::vector<float>{6});
  EXPECT_EQ(clip.attribute_size(), 0);
  const auto& squeeze = *find_node(b.model(), "s");
  EXPECT_EQ(ints_of(*find_tensor(b.model(), squeeze.input(1))), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(int_attribute(*find_node(b.model(), "y"), "axis", 1), -1) << "the last of two, as before";
}

TEST(RaiseOpset, StopsBeforeAnOperatorThatMeansSomethingElse) {
  struct Row {
    std::int64_t opset, reached;
    const char* op;
  };
  for (const Row& row :
       {Row{9, 9, "Upsample"}, Row{10, 10, "Resize"}, Row{10, 10, "Scatter"}, Row{11, 12, "Hardmax"}}) {
    ModelBuilder b(row.opset);
    b.input("x", {-1, 2, 4, 4}).output("y", {-1, 2, 4, 4}).conv("x", "c").node(row.op, {"c"}, "y");
    const auto raised = raise_opset(b.model());
    EXPECT_EQ(raised.to, row.reached) << row.op;
    EXPECT_EQ(raised.stopped_by, row.op);
    EXPECT_EQ(opset_version(b.model()), row.reached);
  }
}

TEST(RaiseOpset, NewFilesAndVeryOldOnesStayAsTheyAre) {
  for (const std::int64_t opset : {7, 13, 17}) {
    ModelBuilder b(opset);
    b.input("x", {-1, 2, 4, 4}).output("y").conv("x", "y");
    EXPECT_EQ(raise_opset(b.model()).to, opset);
    EXPECT_EQ(opset_version(b.model()), opset);
  }
}

TEST(RaiseOpset, BeforeSet13WeightsHaveOneScale) {
  ModelBuilder b(11);
  b.input("x", {-1, 2, 1, 1}).output("y");
  b.weights("w", {2, 2, 1, 1}, {127, 12.7F, -1.27F, 0})
      .weights("b", {2}, {1, -2})
      .node("Conv", {"x", "w", "b"}, "y");
  const auto report = quantise(b.model(), {{"x", {-1, 1.55F}}}, {});
  EXPECT_FALSE(report.per_channel);
  const auto& weight = *find_node(b.model(), find_node(b.model(), "y")->input(1));
  EXPECT_EQ(find_attribute(weight, "axis"), nullptr);
  const auto& scale = *find_tensor(b.model(), weight.input(1));
  EXPECT_EQ(scale.dims_size(), 0);
  EXPECT_EQ(floats_of(scale), std::vector<float>{1});
  const auto& bias = *find_node(b.model(), find_node(b.model(), "y")->input(2));
  EXPECT_EQ(find_tensor(b.model(), bias.input(1))->dims_size(), 0);
  EXPECT_EQ(ints_of(*find_tensor(b.model(), bias.input(0))), (std::vector<std::int64_t>{100, -200}));
}

}  // namespace
}  // namespace paceline::onnx
