// SPDX-License-Identifier: MIT
#include "onnx/few_bits.h"

#include <gtest/gtest.h>

#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

proto::NodeProto product(const std::string& name, std::int64_t level) {
  proto::NodeProto node;
  node.set_op_type(kFewBits), node.set_name(name), node.add_output(name + ":0");
  if (level >= 0) set_attribute(node, "accuracy_level", level);
  return node;
}

// In the graph, in a branch of an If, and in a function.
proto::ModelProto model() {
  proto::ModelProto m;
  *m.mutable_graph()->add_node() = product("a", 4);
  *m.mutable_graph()->add_node() = product("unset", -1);
  *m.mutable_graph()->add_node() = product("float", 1);
  auto& branch = *m.mutable_graph()->add_node();
  branch.set_op_type("If");
  *branch.add_attribute()->mutable_g()->add_node() = product("b", 4);
  *m.add_functions()->add_node() = product("c", 4);
  m.mutable_graph()->add_node()->set_op_type("MatMul");
  return m;
}

using Levels = std::map<std::string, std::int64_t>;

TEST(FewBits, LevelsOfAllProductsWhereverTheyAre) {
  auto m = model();
  EXPECT_EQ(few_bits_levels(m), (Levels{{"a", 4}, {"unset", 0}, {"float", 1}, {"b", 4}, {"c", 4}}));
}

TEST(FewBits, AllAreSetToComputeInFloatOnce) {
  auto m = model();
  EXPECT_TRUE(set_float_levels(m));
  EXPECT_EQ(few_bits_levels(m), (Levels{{"a", 1}, {"unset", 0}, {"float", 1}, {"b", 1}, {"c", 1}}));
  EXPECT_FALSE(set_float_levels(m)) << "nothing is left to change";
}

}  // namespace
}  // namespace paceline::onnx
