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
  EXPECT_EQ(sum_in_sequence(model), 1);
  EXPECT_EQ(count(model, "CumSum"), 1) << "one partial sum a channel";
  EXPECT_EQ(count(model, "GlobalAveragePool"), 1) << "it still says which shape the output has";
  EXPECT_TRUE(makes(model, "y"));
  EXPECT_EQ(model.graph().node(model.graph().node_size() - 1).output(0), "y") << "nodes stay in order";
}

int sums_over(const std::vector<std::int64_t>& axes) {
  auto model = ModelBuilder().input("x", {-1, 3, 8, 8}).output("y").node("ReduceMean", {"x"}, "y").model();
  if (!axes.empty()) set_attribute(*model.mutable_graph()->mutable_node(0), "axes", axes);
  EXPECT_EQ(sum_in_sequence(model), 1);
  return count(model, "CumSum");
}

TEST(SummationOrder, NeighbouringAxesAreOneSum) {
  EXPECT_EQ(sums_over({}), 1) << "all axes";
  EXPECT_EQ(sums_over({2, 3}), 1);
  EXPECT_EQ(sums_over({-1, -2}), 1);
  EXPECT_EQ(sums_over({1, 3}), 2);
  EXPECT_EQ(sums_over({0, -1}), 2) << "whether these are neighbours depends on the rank";
}

TEST(SummationOrder, LeavesWhatItCannotRewrite) {
  auto old =
      ModelBuilder(10).input("x", {-1, 3, 8, 8}).output("y").node("GlobalAveragePool", {"x"}, "y").model();
  EXPECT_EQ(sum_in_sequence(old), 0);
  auto dynamic = ModelBuilder(18)
                     .input("x", {-1, 8})
                     .input("axes", {1}, DType::kInt64)
                     .output("y")
                     .node("ReduceSum", {"x", "axes"}, "y")
                     .model();
  EXPECT_EQ(sum_in_sequence(dynamic), 0);
  EXPECT_EQ(dynamic.graph().node_size(), 1);
}

}  // namespace
}  // namespace paceline::onnx
