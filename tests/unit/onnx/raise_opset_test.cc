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

TEST(RaiseOpset, StopsBeforeAnOperatorWithoutAnEqual) {
  struct Row {
    std::int64_t opset, reached;
    const char* op;
    Floats scales;
  };
  for (const Row& row : {Row{9, 9, "Upsample", {}}, Row{10, 10, "Resize", {}}, Row{10, 10, "Scatter", {}},
                         Row{10, 10, "Resize", {1, 1, 0.5F, 0.5F}}}) {
    ModelBuilder b(row.opset);
    b.input("x", {-1, 2, 4, 4}).output("y", {-1, 2, 4, 4}).conv("x", "c").node(row.op, {"c"}, "y");
    if (!row.scales.empty()) b.weights("s", {4}, row.scales).last().add_input("s");
    const auto raised = raise_opset(b.model());
    EXPECT_EQ(raised.to, row.reached) << row.op;
    EXPECT_EQ(raised.stopped_by, std::string("y (") + row.op + ")");
    EXPECT_EQ(opset_version(b.model()), row.reached);
  }
}

TEST(RaiseOpset, EnlargingKeepsItsCoordinates) {
  for (const std::int64_t opset : {9, 10}) {
    ModelBuilder b(opset);
    b.input("x", {-1, 2, 4, 4}).output("y", {-1, 2, 8, 8}).weights("s", {4}, {1, 1, 2, 2});
    b.node(opset == 9 ? "Upsample" : "Resize", {"x", "s"}, "y");
    EXPECT_EQ(raise_opset(b.model()).to, 13);
    const auto& node = *find_node(b.model(), "y");
    EXPECT_EQ(node.op_type(), "Resize");
    EXPECT_EQ(Names(node.input().begin(), node.input().end()), (Names{"x", "", "s"}));
    EXPECT_EQ(find_attribute(node, "coordinate_transformation_mode")->s(), "asymmetric");
    EXPECT_EQ(find_attribute(node, "nearest_mode")->s(), "floor");
  }
}

TEST(RaiseOpset, ScatterHasItsLaterName) {
  ModelBuilder b(9);
  b.input("x", {4})
      .input("i", {4}, DType::kInt64)
      .input("u", {4})
      .output("y")
      .node("Scatter", {"x", "i", "u"}, "y");
  EXPECT_EQ(raise_opset(b.model()).to, 13);
  EXPECT_EQ(find_node(b.model(), "y")->op_type(), "ScatterElements");
}

// y = softmax of a value whose rank no line of the file declares.
ModelBuilder softmax_of_unknown_rank(std::int64_t axis, const char* op = "Softmax") {
  ModelBuilder b(12);
  b.input("x", {-1, 2, 4, 4}).output("y", {-1}).node("Transpose", {"x"}, "t").node(op, {"t"}, "s");
  set_attribute(b.last(), "axis", axis);
  b.conv("s", "y");
  return b;
}

TEST(RaiseOpset, ASoftmaxOverOneAxisKeepsItsFormWhereTheRankIsKnown) {
  auto b = softmax_of_unknown_rank(3);
  EXPECT_EQ(undeclared_ranks(b.model()), std::set<std::string>{"t"});
  EXPECT_EQ(raise_opset(b.model(), {{"t", 4}}).to, 13);
  EXPECT_EQ(b.model().graph().node_size(), 3);
  EXPECT_EQ(int_attribute(*find_node(b.model(), "s"), "axis", 0), -1);
  auto last = softmax_of_unknown_rank(-1);
  EXPECT_EQ(undeclared_ranks(last.model()), std::set<std::string>{}) << "its axis says enough";
}

TEST(RaiseOpset, ASoftmaxOverSeveralAxesTakesAMatrix) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"})
    for (const Ranks& ranks : {Ranks{}, Ranks{{"t", 4}}}) {
      auto b = softmax_of_unknown_rank(1, op);
      EXPECT_EQ(raise_opset(b.model(), ranks).to, 13) << op;
      const auto& back = *find_node(b.model(), "s");
      EXPECT_EQ(back.op_type(), "Reshape");
      const auto& softmax = *find_node(b.model(), back.input(0));
      EXPECT_EQ(softmax.op_type(), op);
      EXPECT_EQ(int_attribute(softmax, "axis", 0), -1);
      const auto& flat = *find_node(b.model(), softmax.input(0));
      EXPECT_EQ(flat.op_type(), "Flatten");
      EXPECT_EQ(int_attribute(flat, "axis", 0), 1);
      EXPECT_EQ(find_node(b.model(), back.input(1))->op_type(), "Shape");
      EXPECT_EQ(flat.input(0), find_node(b.model(), back.input(1))->input(0));
    }
}

TEST(RaiseOpset, BranchesAreRaisedWithTheirGraph) {
  ModelBuilder inner(11), b(11);
  inner.node("Squeeze", {"x"}, "z");
  set_attribute(inner.last(), "axes", std::vector<std::int64_t>{1});
  b.input("x", {-1, 1}).input("c", {}, DType::kBool).output("y").node("If", {"c"}, "y");
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& branch = *b.last().add_attribute();
    branch.set_name(name);
    branch.set_type(proto::AttributeProto::GRAPH);
    *branch.mutable_g() = inner.graph();
  }
  EXPECT_EQ(raise_opset(b.model()).to, 13);
  for (const auto& attribute : b.last().attribute()) {
    EXPECT_EQ(attribute.g().node(0).input_size(), 2);
    EXPECT_EQ(attribute.g().initializer_size(), 1);
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
