// SPDX-License-Identifier: MIT
#include "onnx/half_cast.h"

#include <gtest/gtest.h>

#include "base/half.h"
#include "model_builder.h"

namespace paceline::onnx {
namespace {

std::int64_t target(const proto::ModelProto& m, const std::string& value) {
  const auto* node = find_node(m, value);
  return node && node->op_type() == "Cast" ? int_attribute(*node, "to", 0) : -1;
}

ModelBuilder linear() {
  ModelBuilder b;
  b.input("x", {-1, 2}).output("y").weights("w", {2, 2}, {0.5F, 1, 2, 70000});
  b.node("MatMul", {"x", "w"}, "y");
  return b;
}

TEST(HalfCast, WeightsBecomeHalvesAndInputsStay) {
  auto b = linear();
  const auto report = cast_to_half(b.model());
  EXPECT_EQ(report.half_nodes, 1);
  EXPECT_EQ(count_op(b.model(), "Cast"), 2);
  EXPECT_EQ(b.graph().input(0).type().tensor_type().elem_type(), proto::TensorProto::FLOAT);
  EXPECT_EQ(b.graph().output(0).type().tensor_type().elem_type(), proto::TensorProto::FLOAT);
  EXPECT_EQ(target(b.model(), "y"), proto::TensorProto::FLOAT);
  EXPECT_EQ(target(b.model(), "x/half"), proto::TensorProto::FLOAT16);
  ASSERT_NE(find_tensor(b.model(), "w/half"), nullptr);
  EXPECT_EQ(floats_of(*find_tensor(b.model(), "w/half")), (Floats{0.5F, 1, 2, 65504}));
  EXPECT_EQ(find_tensor(b.model(), "w"), nullptr);
}

TEST(HalfCast, OverflowIsCounted) {
  auto clamped = linear();
  EXPECT_EQ(cast_to_half(clamped.model()).clamped, 1);
}

TEST(HalfCast, WeightsThatVanishAreCounted) {
  ModelBuilder b;
  b.input("x", {-1, 1}).output("y").weights("w", {1, 2}, {1e-9F, 0}).node("MatMul", {"x", "w"}, "y");
  EXPECT_EQ(cast_to_half(b.model()).flushed, 1);
}

TEST(HalfCast, SoftmaxIsAnIslandBetweenConversions) {
  ModelBuilder b;
  b.input("x", {-1, 2}).output("y").weights("w", {2, 2});
  b.node("MatMul", {"x", "w"}, "s").node("Softmax", {"s"}, "p").node("MatMul", {"p", "w"}, "y");
  const auto report = cast_to_half(b.model());
  EXPECT_EQ(report.islands, Names{"p"});
  EXPECT_EQ(find_node(b.model(), "p")->input(0), "s/float");
  EXPECT_EQ(find_node(b.model(), "y/made")->input(0), "p/half");
}

// x - mean, squared, mean, + 1e-12, root: in float16 the epsilon would be 0 and a constant row NaN.
TEST(HalfCast, NodesBetweenTwoIslandsStayWithThem) {
  ModelBuilder b;
  b.input("x", {-1, 2}).output("y").weights("eps", {1}, {1e-12F}).weights("two", {1}, {2});
  b.node("Relu", {"x"}, "r").node("ReduceMean", {"r"}, "mean").node("Sub", {"r", "mean"}, "d");
  b.node("Pow", {"d", "two"}, "sq").node("ReduceMean", {"sq"}, "var").node("Add", {"var", "eps"}, "safe");
  b.node("Sqrt", {"safe"}, "root").node("Div", {"d", "root"}, "y");
  const auto report = cast_to_half(b.model());
  EXPECT_EQ(report.islands, (Names{"mean", "sq", "var", "safe", "root"}));
  EXPECT_EQ(floats_of(*find_tensor(b.model(), "eps")), Floats{1e-12F});
  EXPECT_EQ(report.flushed, 0);
}

TEST(HalfCast, AnInitializerOfBothSidesHasBothTypes) {
  ModelBuilder b;
  b.input("x", {-1, 2}).output("y").weights("k", {2}, {1, 2});
  b.node("Add", {"x", "k"}, "a").node("Pow", {"a", "k"}, "y");
  cast_to_half(b.model());
  EXPECT_EQ(find_tensor(b.model(), "k")->data_type(), proto::TensorProto::FLOAT);
  EXPECT_EQ(find_tensor(b.model(), "k/half")->data_type(), proto::TensorProto::FLOAT16);
}

TEST(HalfCast, IntegersAndShapesAreLeftAlone) {
  ModelBuilder b;
  b.input("ids", {-1, 2}, DType::kInt64).output("y").weights("table", {4, 2});
  *b.graph().add_initializer() = make_tensor("axes", Shape{1}, std::vector<std::int64_t>{0});
  b.node("Gather", {"table", "ids"}, "e").node("Shape", {"e"}, "n").node("ConstantOfShape", {"n"}, "zeros");
  b.node("Cast", {"ids"}, "mask");
  set_attribute(b.last(), "to", std::int64_t{proto::TensorProto::FLOAT});
  b.node("Add", {"e", "zeros"}, "s").node("Unsqueeze", {"s", "axes"}, "u").node("Mul", {"u", "mask"}, "y");
  const auto report = cast_to_half(b.model());
  EXPECT_TRUE(report.islands.empty());
  EXPECT_EQ(find_tensor(b.model(), "axes")->data_type(), proto::TensorProto::INT64);
  EXPECT_EQ(find_node(b.model(), "u")->input(1), "axes");
  EXPECT_EQ(target(b.model(), "mask"), proto::TensorProto::FLOAT16);
  EXPECT_EQ(find_attribute(*find_node(b.model(), "zeros"), "value")->t().data_type(),
            proto::TensorProto::FLOAT16);
  EXPECT_EQ(count_op(b.model(), "Cast"), 2) << "its own, and one for the output";
}

// y = MatMul(x, w), where w comes out of integers.
ModelBuilder quantised_weights(const std::string& op, const Names& inputs) {
  ModelBuilder b;
  const std::vector<std::int8_t> integers{1, 2, 3, 4};
  b.input("x", {-1, 2}).output("y").weights("s", {}, {0.5F});
  *b.graph().add_initializer() = make_tensor("q", DType::kInt8, Shape{2, 2}, integers.data());
  return std::move(b.node(op, inputs, "w").node("MatMul", {"x", "w"}, "y"));
}

TEST(HalfCast, WeightsOutOfIntegersAreCastToHalf) {
  auto b = quantised_weights("DequantizeLinear", {"q", "s"});
  cast_to_half(b.model());
  EXPECT_EQ(target(b.model(), "w/half"), proto::TensorProto::FLOAT16);
  EXPECT_EQ(find_node(b.model(), "w")->input(1), "s") << "its scale stays float32";
  EXPECT_EQ(find_node(b.model(), "y/made")->input(1), "w/half");
}

TEST(HalfCast, TheTypeOfAnOutputIsThatOfTheInputThatGivesIt) {
  auto b = quantised_weights("CastLike", {"q", "x"});
  cast_to_half(b.model());
  EXPECT_EQ(find_node(b.model(), "w")->input(1), "x/half");
  EXPECT_EQ(find_node(b.model(), "y/made")->input(1), "w");
}

TEST(HalfCast, DynamicQuantizationTakesAndGivesFloats) {
  ModelBuilder b;
  b.input("x", {-1, 2}).output("y").weights("w", {2, 2}).node("MatMul", {"x", "w"}, "m");
  add_node(b.graph(), "DynamicQuantizeLinear", "d", Names{"m"}, Names{"q", "s", "z"});
  b.node("DequantizeLinear", {"q", "s", "z"}, "f").node("Relu", {"f"}, "y");
  cast_to_half(b.model());
  const auto& quantize = *find_node(b.model(), "q");
  EXPECT_EQ(target(b.model(), quantize.input(0)), proto::TensorProto::FLOAT);
  EXPECT_EQ(Names(quantize.output().begin(), quantize.output().end()), (Names{"q", "s", "z"}));
  EXPECT_EQ(target(b.model(), "f/half"), proto::TensorProto::FLOAT16);
}

// A Constant node with one attribute.
proto::AttributeProto& constant(ModelBuilder& b, const std::string& form, const std::string& output) {
  b.node("Constant", {}, output);
  auto& attribute = *b.last().add_attribute();
  attribute.set_name(form);
  return attribute;
}

TEST(HalfCast, ConstantsOfEveryFormAreReadAsHalves) {
  ModelBuilder b;
  b.input("x", {-1, 2}).output("y");
  constant(b, "value_float", "low").set_f(0.5F);
  auto& floats = constant(b, "value_floats", "row");
  floats.add_floats(1), floats.add_floats(2);
  auto& sparse = *constant(b, "sparse_value", "sparse").mutable_sparse_tensor();
  *sparse.mutable_values() = make_tensor("v", Shape{1}, Floats{7});
  *sparse.mutable_indices() = make_tensor("i", Shape{1}, std::vector<std::int64_t>{1});
  sparse.add_dims(2);
  constant(b, "value_int", "axis").set_i(0);
  b.node("Clip", {"x", "low"}, "c").node("Add", {"c", "row"}, "r").node("Mul", {"r", "sparse"}, "m");
  b.node("Gather", {"m", "axis"}, "y");
  cast_to_half(b.model());
  EXPECT_EQ(count_op(b.model(), "Constant"), 0);
  EXPECT_EQ(find_node(b.model(), "c")->input(1), "low/half");
  EXPECT_EQ(floats_of(*find_tensor(b.model(), "low/half")), Floats{0.5F});
  EXPECT_EQ(find_tensor(b.model(), "low/half")->dims_size(), 0);
  EXPECT_EQ(floats_of(*find_tensor(b.model(), "row/half")), (Floats{1, 2}));
  EXPECT_EQ(floats_of(*find_tensor(b.model(), "sparse/half")), (Floats{0, 7}));
  EXPECT_EQ(find_tensor(b.model(), "axis")->data_type(), proto::TensorProto::INT64);
}

TEST(HalfCast, RandomNumbersAreMadeInFloat) {
  ModelBuilder b;
  b.input("x", {2}).output("y").node("RandomNormal", {}, "n").node("Add", {"x", "n"}, "y");
  cast_to_half(b.model());
  EXPECT_EQ(find_node(b.model(), "y/made")->input(1), "n/half");
}

TEST(HalfCast, ABranchStaysInFloatAndReadsFloats) {
  ModelBuilder b;
  b.input("x", {2}).input("go", {}, DType::kBool).output("y");
  b.node("Relu", {"x"}, "r").node("If", {"go"}, "z");
  auto& branch = *b.last().add_attribute();
  branch.set_name("then_branch");
  branch.set_type(proto::AttributeProto::GRAPH);
  add_node(*branch.mutable_g(), "Neg", "inner", Names{"r"}, Names{"inner"});
  branch.mutable_g()->add_output()->set_name("inner");
  b.node("Sub", {"z", "r"}, "y");
  const auto report = cast_to_half(b.model());
  EXPECT_EQ(report.control_flow, Names{"z"});
  EXPECT_EQ(find_attribute(*find_node(b.model(), "z"), "then_branch")->g().node(0).input(0), "r/float");
  EXPECT_EQ(target(b.model(), "r/float"), proto::TensorProto::FLOAT);
  EXPECT_EQ(find_node(b.model(), "y/made")->input(0), "z/half");
  EXPECT_EQ(find_node(b.model(), "y/made")->input(1), "r");
}

TEST(HalfCast, SequencesHoldFloats) {
  ModelBuilder b;
  b.input("x", {2}).output("y").weights("at", {}, {0});
  b.node("Relu", {"x"}, "r").node("SequenceConstruct", {"r", "r"}, "s").node("Identity", {"s"}, "t");
  b.node("SequenceAt", {"t", "at"}, "e").node("Neg", {"e"}, "y");
  cast_to_half(b.model());
  EXPECT_EQ(find_node(b.model(), "s")->input(0), "r/float");
  EXPECT_EQ(find_node(b.model(), "t")->input(0), "s");
  EXPECT_EQ(find_node(b.model(), "e")->input(0), "t");
  EXPECT_EQ(find_node(b.model(), "y/made")->input(0), "e/half");
}

}  // namespace
}  // namespace paceline::onnx
