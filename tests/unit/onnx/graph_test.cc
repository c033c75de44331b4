// SPDX-License-Identifier: MIT
#include "onnx/graph.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/half.h"

namespace paceline::onnx {
namespace {

using Names = std::vector<std::string>;

TEST(Graph, IndexKnowsWhoMakesAndReadsAValue) {
  proto::GraphProto graph;
  *graph.add_initializer() = make_tensor("w", Shape{2}, std::vector<float>{1, 2});
  add_node(graph, "Mul", "scale", Names{"x", "w"}, Names{"y"});
  add_node(graph, "Relu", "relu", Names{"y"}, Names{"z"});
  *graph.add_output() = make_value_info({"z", DType::kFloat32, {-1}});
  const GraphIndex index(graph);
  EXPECT_EQ(index.producer("y")->name(), "scale");
  EXPECT_EQ(index.producer("x"), nullptr);
  ASSERT_EQ(index.consumers("y").size(), 1U);
  EXPECT_EQ(index.consumers("y")[0]->name(), "relu");
  EXPECT_TRUE(index.consumers("z").empty());
  EXPECT_EQ(index.initializer("w")->dims(0), 2);
  EXPECT_TRUE(index.is_output("z"));
  EXPECT_FALSE(index.is_output("y"));
}

TEST(Graph, AttributesAreReplacedNotDoubled) {
  proto::NodeProto node;
  set_attribute(node, "axis", std::int64_t{1});
  set_attribute(node, "axis", std::int64_t{2});
  set_attribute(node, "pads", std::vector<std::int64_t>{1, 1});
  EXPECT_EQ(node.attribute_size(), 2);
  EXPECT_EQ(int_attribute(node, "axis", 0), 2);
  EXPECT_EQ(int_attribute(node, "missing", 7), 7);
  EXPECT_EQ(ints_attribute(node, "pads"), (std::vector<std::int64_t>{1, 1}));
}

TEST(Graph, FloatsComeFromRawBytesAndFromFields) {
  EXPECT_EQ(floats_of(make_tensor("a", Shape{2}, std::vector<float>{1.5F, -2})),
            (std::vector<float>{1.5F, -2}));
  proto::TensorProto fields;
  fields.set_data_type(proto::TensorProto::FLOAT);
  fields.add_float_data(3);
  EXPECT_EQ(floats_of(fields), std::vector<float>{3});
  proto::TensorProto halves;
  halves.set_data_type(proto::TensorProto::FLOAT16);
  halves.add_int32_data(float_to_half(0.5F));
  EXPECT_EQ(floats_of(halves), std::vector<float>{0.5F});
  EXPECT_THROW(floats_of(make_tensor("ids", Shape{1}, std::vector<std::int64_t>{1})), Error);
}

TEST(Graph, InputsLeaveInitializersOutAndMarkUnknownDimensions) {
  proto::GraphProto graph;
  *graph.add_input() = make_value_info({"x", DType::kInt64, {-1, 8}});
  *graph.add_input() = make_value_info({"w", DType::kFloat32, {2}});
  *graph.add_initializer() = make_tensor("w", Shape{2}, std::vector<float>{1, 2});
  const auto inputs = graph_inputs(graph);
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].dtype, DType::kInt64);
  EXPECT_EQ(inputs[0].shape, (Shape{-1, 8}));
}

TEST(Graph, AnInputOfTextIsRefusedByName) {
  proto::GraphProto graph;
  auto& input = *graph.add_input();
  input.set_name("words");
  input.mutable_type()->mutable_tensor_type()->set_elem_type(proto::TensorProto::STRING);
  try {
    (void)graph_inputs(graph);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("words"), std::string::npos);
  }
}

}  // namespace
}  // namespace paceline::onnx
