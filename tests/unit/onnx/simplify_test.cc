// SPDX-License-Identifier: MIT
#include "onnx/simplify.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model_builder.h"

namespace paceline::onnx {
namespace {

// x -> Conv -> BatchNormalization -> y with numbers that can be checked by hand.
ModelBuilder conv_bn() {
  ModelBuilder b;
  b.input("x", {-1, 1, 1, 1}).output("y").weights("w", {2, 1, 1, 1}, {3, -5}).weights("b", {2}, {1, 2});
  b.node("Conv", {"x", "w", "b"}, "c");
  b.weights("gamma", {2}, {2, 1}).weights("beta", {2}, {0.5F, -1});
  b.weights("mean", {2}, {4, 0}).weights("var", {2}, {3, 0.75F});
  b.node("BatchNormalization", {"c", "gamma", "beta", "mean", "var"}, "y");
  set_attribute(b.last(), "epsilon", 1.0F);
  return b;
}

TEST(Simplify, BatchNormBecomesWeightsAndBias) {
  auto b = conv_bn();
  EXPECT_EQ(fold_batch_norm(b.model()), 1);
  ASSERT_EQ(b.graph().node_size(), 1);
  const auto& conv = b.graph().node(0);
  EXPECT_EQ(conv.output(0), "y");
  // factors: 2/sqrt(3+1) = 1 and 1/sqrt(0.75+1)
  const float second = 1 / std::sqrt(1.75F);
  const auto w = floats_of(*find_tensor(b.model(), conv.input(1)));
  const auto bias = floats_of(*find_tensor(b.model(), conv.input(2)));
  EXPECT_FLOAT_EQ(w[0], 3);
  EXPECT_FLOAT_EQ(w[1], -5 * second);
  EXPECT_FLOAT_EQ(bias[0], (1 - 4) * 1 + 0.5F);
  EXPECT_FLOAT_EQ(bias[1], 2 * second - 1);
  EXPECT_EQ(b.graph().initializer_size(), 2) << "what became unused is gone";
}

TEST(Simplify, AConvolutionWithTwoReadersOrTrainingStaysAsItIs) {
  auto two_readers = conv_bn();
  two_readers.node("Relu", {"c"}, "z").output("z");
  EXPECT_EQ(fold_batch_norm(two_readers.model()), 0);
  EXPECT_EQ(count_op(two_readers.model(), "BatchNormalization"), 1);
  auto training = conv_bn();
  set_attribute(training.last(), "training_mode", std::int64_t{1});
  EXPECT_EQ(fold_batch_norm(training.model()), 0);
}

TEST(Simplify, SharedFiltersAreNotSpoiltForTheOtherReader) {
  auto b = conv_bn();
  b.node("Conv", {"x", "w"}, "plain").output("plain");
  EXPECT_EQ(fold_batch_norm(b.model()), 1);
  EXPECT_EQ(floats_of(*find_tensor(b.model(), "w")), (Floats{3, -5}));
  EXPECT_EQ(find_node(b.model(), "plain")->input(1), "w");
}

TEST(Simplify, ConstantsBecomeInitializersAndOldInputsGo) {
  ModelBuilder b;
  b.model().set_ir_version(3);
  b.input("x", {2}).input("w", {2}).output("y").weights("w", {2}, {1, 2});
  b.node("Constant", {}, "k");
  auto& value = *b.last().add_attribute();
  value.set_name("value");
  *value.mutable_t() = make_tensor("", Shape{2}, Floats{5, 6});
  b.node("Sum", {"x", "w", "k"}, "y");
  constants_to_initializers(b.model());
  EXPECT_EQ(count_op(b.model(), "Constant"), 0);
  EXPECT_EQ(floats_of(*find_tensor(b.model(), "k")), (Floats{5, 6}));
  ASSERT_EQ(b.graph().input_size(), 1);
  EXPECT_EQ(b.graph().input(0).name(), "x");
  EXPECT_EQ(b.model().ir_version(), 4);
}

TEST(Simplify, CopiesOfWeightsAndValuesAreReadAtTheirSource) {
  ModelBuilder b;
  b.input("x", {-1, 2}).output("y").output("again").weights("w", {2, 2}).weights("bias", {2});
  b.node("Identity", {"bias"}, "copy").node("Identity", {"copy"}, "second");
  b.node("MatMul", {"x", "w"}, "p").node("Dropout", {"p"}, "dropped").node("Add", {"dropped", "second"}, "y");
  b.node("Identity", {"y"}, "again");
  EXPECT_EQ(read_past_copies(b.model()), 3);
  const auto* add = find_node(b.model(), "y");
  EXPECT_EQ(add->input(0), "p");
  EXPECT_EQ(add->input(1), "bias");
  EXPECT_NE(find_node(b.model(), "again"), nullptr) << "an output of the graph keeps its name";
  EXPECT_EQ(b.graph().node_size(), 3);
}

TEST(Simplify, ADropoutThatTrainsAndACopyInASubgraphStay) {
  ModelBuilder b;
  b.input("x", {2}).input("train", {}, DType::kBool).output("y").weights("ratio", {}, {0.5F});
  b.node("Identity", {"x"}, "copy")
      .node("Dropout", {"copy", "ratio", "train"}, "d")
      .node("If", {"train"}, "z");
  auto& branch = *b.last().add_attribute();
  branch.set_name("then_branch");
  branch.set_type(proto::AttributeProto::GRAPH);
  add_node(*branch.mutable_g(), "Neg", "inner", Names{"copy"}, Names{"inner"});
  b.node("Add", {"d", "z"}, "y");
  EXPECT_EQ(read_past_copies(b.model()), 1) << "only what the Dropout reads";
  EXPECT_EQ(find_node(b.model(), "y")->input(0), "d");
  EXPECT_NE(find_node(b.model(), "copy"), nullptr);
}

TEST(Simplify, AConvolutionThatALoopReadsKeepsItsNorm) {
  ModelBuilder b;
  b.input("x", {-1, 1, 1, 1}).output("y").output("z").weights("w", {1, 1, 1, 1}, {2});
  for (const auto* name : {"g", "b", "m", "v"}) b.weights(name, {1}, {1});
  b.node("Conv", {"x", "w"}, "c").node("BatchNormalization", {"c", "g", "b", "m", "v"}, "y");
  b.node("Loop", {}, "z");
  auto& body = *b.last().add_attribute();
  body.set_name("body");
  body.set_type(proto::AttributeProto::GRAPH);
  add_node(*body.mutable_g(), "Neg", "inner", Names{"c"}, Names{"inner"});
  EXPECT_EQ(fold_batch_norm(b.model()), 0) << "the loop reads what the convolution gives";
}

TEST(Simplify, ATransposedWeightIsAWeight) {
  ModelBuilder b;
  b.input("x", {-1, 3}).output("y").weights("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  b.node("Transpose", {"w"}, "wt").node("MatMul", {"x", "wt"}, "y");
  EXPECT_EQ(fold_transposed_weights(b.model()), 1);
  EXPECT_EQ(count_op(b.model(), "Transpose"), 0);
  EXPECT_EQ(floats_of(*find_tensor(b.model(), "wt")), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(find_tensor(b.model(), "wt")->dims(0), 3);
  EXPECT_EQ(find_tensor(b.model(), "w"), nullptr);
}

TEST(Simplify, UnusedNodesGoButWhatASubgraphReadsStays) {
  ModelBuilder b;
  b.input("x", {2}).output("y").weights("seen", {2}, {1, 2}).weights("unseen", {2}, {3, 4});
  b.node("Relu", {"x"}, "dead").node("Identity", {"x"}, "y");
  auto& branch = *b.last().add_attribute();
  branch.set_name("body");
  branch.set_type(proto::AttributeProto::GRAPH);
  add_node(*branch.mutable_g(), "Neg", "inner", Names{"seen"}, Names{"inner"});
  remove_unused(b.model());
  EXPECT_EQ(find_node(b.model(), "dead"), nullptr);
  EXPECT_NE(find_tensor(b.model(), "seen"), nullptr);
  EXPECT_EQ(find_tensor(b.model(), "unseen"), nullptr);
}

}  // namespace
}  // namespace paceline::onnx
