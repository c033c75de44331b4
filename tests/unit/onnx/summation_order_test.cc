// SPDX-License-Identifier: MIT
#include "onnx/summation_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model_builder.h"

namespace paceline::onnx {
namespace {

int count(const proto::ModelProto& model, const std::string& op) {
  return static_cast<int>(std::ranges::count(model.graph().node(), op, &proto::NodeProto::op_type));
}

bool makes(const proto::ModelProto& model, const std::string& value) {
  return std::ranges::any_of(model.graph().node(), [&](const auto& node) {
    return node.output_size() > 0 && node.output(0) == value;
  });
}

TEST(SummationOrder, SumsBecomeOneElementAfterTheOther) {
  auto model =
      ModelBuilder().input("x", {-1, 3, 8, 8}).output("y").node("GlobalAveragePool", {"x"}, "y").model();
  auto at_once = model;
  EXPECT_EQ(sum_in_sequence(model, SumOrder::kAxisByAxis), 1);
  EXPECT_EQ(count(model, "CumSum"), 2) << "along the last axis, then along the others";
  EXPECT_EQ(sum_in_sequence(at_once, SumOrder::kAtOnce), 1);
  EXPECT_EQ(count(at_once, "CumSum"), 1) << "one partial sum a channel";
  EXPECT_EQ(count(model, "GlobalAveragePool"), 1) << "it still says which shape the output has";
  EXPECT_TRUE(makes(model, "y"));
  EXPECT_EQ(model.graph().node(model.graph().node_size() - 1).output(0), "y") << "nodes stay in order";
}

// How many sums in sequence replace a mean over these axes; 0: none that axis by axis would not have.
int sums_at_once(const std::vector<std::int64_t>& axes) {
  auto model = ModelBuilder().input("x", {-1, 3, 8, 8}).output("y").node("ReduceMean", {"x"}, "y").model();
  if (!axes.empty()) set_attribute(*model.mutable_graph()->mutable_node(0), "axes", axes);
  return sum_in_sequence(model, SumOrder::kAtOnce) > 0 ? count(model, "CumSum") : 0;
}

TEST(SummationOrder, NeighbouringAxesAreOneSum) {
  EXPECT_EQ(sums_at_once({}), 1) << "all axes";
  EXPECT_EQ(sums_at_once({2, 3}), 1);
  EXPECT_EQ(sums_at_once({-1, -2}), 1);
  EXPECT_EQ(sums_at_once({0, 2, 3}), 2);
  EXPECT_EQ(sums_at_once({3}), 0);
  EXPECT_EQ(sums_at_once({1, 3}), 0);
  EXPECT_EQ(sums_at_once({0, -1}), 0) << "whether these are neighbours depends on the rank";
}

TEST(SummationOrder, EachAxisIsSummed) {
  auto model = ModelBuilder().input("x", {-1, 3, 8, 8}).output("y").node("ReduceMean", {"x"}, "y").model();
  const std::vector<std::int64_t> axes{1, 2};
  auto all = model;
  set_attribute(*model.mutable_graph()->mutable_node(0), "axes", axes);
  EXPECT_EQ(sum_in_sequence(model, SumOrder::kAxisByAxis), 1);
  EXPECT_EQ(count(model, "CumSum"), 2);
  EXPECT_EQ(sum_in_sequence(all, SumOrder::kAxisByAxis), 1);
  EXPECT_EQ(count(all, "CumSum"), 2);
}

TEST(SummationOrder, NormsSumTheirMeanAndVarianceAtOnce) {
  for (const auto* op : {"InstanceNormalization", "LayerNormalization"}) {
    auto model = ModelBuilder(17)
                     .input("x", {-1, 3, 8, 8})
                     .input("scale", {3})
                     .input("bias", {3})
                     .output("y")
                     .node(op, {"x", "scale", "bias"}, "y")
                     .model();
    auto by_axis = model;
    EXPECT_EQ(sum_in_sequence(by_axis, SumOrder::kAxisByAxis), 0) << op;
    EXPECT_EQ(sum_in_sequence(model, SumOrder::kAtOnce), 1) << op;
    EXPECT_EQ(count(model, op), 0);
    EXPECT_EQ(count(model, "CumSum"), 2) << "mean and variance";
    EXPECT_TRUE(makes(model, "y"));
  }
}

TEST(SummationOrder, LeavesWhatItCannotRewrite) {
  auto old =
      ModelBuilder(10).input("x", {-1, 3, 8, 8}).output("y").node("GlobalAveragePool", {"x"}, "y").model();
  EXPECT_EQ(sum_in_sequence(old, SumOrder::kAtOnce), 0);
  auto dynamic = ModelBuilder(18)
                     .input("x", {-1, 8})
                     .input("axes", {1}, DType::kInt64)
                     .output("y")
                     .node("ReduceSum", {"x", "axes"}, "y")
                     .model();
  EXPECT_EQ(sum_in_sequence(dynamic, SumOrder::kAtOnce), 0);
  EXPECT_EQ(dynamic.graph().node_size(), 1);
}

}  // namespace
}  // namespace paceline::onnx
