// SPDX-License-Identifier: MIT
#include "onnx/placement.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "model_builder.h"
#include "onnx/model_file.h"
#include "support/words.h"

namespace paceline::onnx {
namespace {

using test::reason;

using Values = std::set<std::string>;

Names layer_names(const Placement& p) {
  Names names;
  for (const auto& layer : p.layers) names.push_back(layer.name);
  return names;
}

// The end of a residual network: stem, pool, block with shortcut, head.
ModelBuilder residual() {
  ModelBuilder b;
  b.input("x", {-1, 2, 8, 8}).output("y");
  b.conv("x", "stem").node("Relu", {"stem"}, "stem_relu").node("MaxPool", {"stem_relu"}, "pool");
  b.conv("pool", "a").node("Relu", {"a"}, "a_relu").conv("a_relu", "b");
  b.node("Add", {"b", "pool"}, "sum").node("Relu", {"sum"}, "sum_relu");
  b.node("GlobalAveragePool", {"sum_relu"}, "mean").node("Flatten", {"mean"}, "flat");
  b.weights("fc.w", {3, 2}).weights("fc.b", {3}).node("Gemm", {"flat", "fc.w", "fc.b"}, "y");
  set_attribute(b.last(), "transB", std::int64_t{1});
  return b;
}

TEST(Placement, OnlyReadableFilesWithFloatProductsCanBeQuantised) {
  const std::string file = ::testing::TempDir() + "can_be_quantised.onnx";
  auto products = residual();
  write_model(products.model(), file);
  EXPECT_TRUE(can_be_quantised(file));
  ModelBuilder none;
  none.input("x", {1}).output("y").node("Relu", {"x"}, "y");
  write_model(none.model(), file);
  EXPECT_FALSE(can_be_quantised(file));
  EXPECT_FALSE(can_be_quantised(file + ".missing"));
}

TEST(Placement, EveryActivationButBeforeReluAndTheOutput) {
  auto b = residual();
  const auto p = place(b.model(), {});
  EXPECT_EQ(layer_names(p), (Names{"stem", "a", "b", "y"}));
  EXPECT_EQ(p.values(), (Values{"x", "stem_relu", "pool", "a_relu", "b", "sum_relu", "mean", "flat"}));
  EXPECT_TRUE(p.float_layers.empty());
}

TEST(Placement, PoolAndFlattenTakeTheRangeOfWhatTheyRead) {
  auto b = residual();
  const auto p = place(b.model(), {});
  EXPECT_EQ(p.range_of.at("pool"), "stem_relu");
  EXPECT_EQ(p.range_of.at("flat"), "mean");
  EXPECT_EQ(p.range_of.at("mean"), "mean");
}

TEST(Placement, OneCalibrationServesEveryExclusion) {
  auto b = residual();
  const auto all = place(b.model(), {}).values();
  for (const Names& others :
       {Names{"stem", "a", "b"}, Names{"a", "b", "y"}, Names{"stem", "b", "y"}, Names{"b"}})
    for (const auto& [value, source] : place(b.model(), {.exclude = others}).range_of) {
      EXPECT_TRUE(all.contains(value)) << value;
      EXPECT_TRUE(all.contains(source)) << source;
    }
}

TEST(Placement, ChannelsOfWeightsByOperator) {
  auto b = residual();
  b.weights("plain", {3, 4}).node("Gemm", {"y", "plain"}, "g").output("g");
  b.weights("m.w", {3, 4}).node("MatMul", {"y", "m.w"}, "m").output("m");
  const auto p = place(b.model(), {});
  ASSERT_EQ(p.layers.size(), 6U);
  EXPECT_EQ(p.layers[0].weight_axis, 0) << "Conv";
  EXPECT_EQ(p.layers[3].weight_axis, 0) << "Gemm, transposed";
  EXPECT_EQ(p.layers[4].weight_axis, 1) << "Gemm";
  EXPECT_EQ(p.layers[5].weight_axis, 1) << "MatMul";
}

TEST(Placement, AnExcludedLayerAndTheAddBehindItAreFloat) {
  auto b = residual();
  const auto p = place(b.model(), {.exclude = {"b"}});
  EXPECT_EQ(layer_names(p), (Names{"stem", "a", "y"}));
  ASSERT_EQ(p.float_layers.size(), 1U);
  EXPECT_EQ(p.float_layers[0].name, "b");
  EXPECT_EQ(p.float_layers[0].reason, "excluded");
  EXPECT_TRUE(p.float_layers[0].excluded);
  EXPECT_EQ(p.values(), (Values{"x", "stem_relu", "pool", "a_relu", "flat"}));
}

TEST(Placement, FirstLastAndPatterns) {
  auto b = residual();
  EXPECT_EQ(layer_names(place(b.model(), {.exclude = {"first", "last"}})), (Names{"a", "b"}));
  EXPECT_EQ(layer_names(place(b.model(), {.exclude = {"?"}})), (Names{"stem"}));
  EXPECT_NE(
      reason([&] { (void)place(b.model(), {.exclude = {"layer9*"}}); }).find("no layer is called 'layer9*'"),
      std::string::npos);
}

// Attention and feed-forward of one block, as exporters write them.
ModelBuilder transformer() {
  ModelBuilder b;
  b.input("x", {-1, 4, 8}).output("y").weights("g", {8}).weights("wq", {8, 8}).weights("wk", {8, 8});
  b.weights("bq", {8}).weights("w1", {8, 8});
  b.node("LayerNormalization", {"x", "g"}, "n")
      .node("MatMul", {"n", "wq"}, "q0")
      .node("Add", {"q0", "bq"}, "q");
  b.node("MatMul", {"n", "wk"}, "k").node("Transpose", {"k"}, "kt").node("MatMul", {"q", "kt"}, "scores");
  b.node("Softmax", {"scores"}, "p").node("MatMul", {"p", "n"}, "c").node("Add", {"c", "x"}, "r");
  b.node("LayerNormalization", {"r", "g"}, "n2").node("MatMul", {"n2", "w1"}, "h");
  b.node("Gelu", {"h"}, "act").node("Add", {"act", "r"}, "y");
  return b;
}

TEST(Placement, OfATransformerOnlyProductsWithWeights) {
  auto b = transformer();
  const auto p = place(b.model(), {});
  EXPECT_EQ(layer_names(p), (Names{"q0", "k", "h"}));
  EXPECT_EQ(p.values(), (Values{"n", "n2"}));
  ASSERT_EQ(p.float_layers.size(), 2U);
  EXPECT_EQ(p.float_layers[0].reason, "a product of two activations");
}

TEST(Placement, FloatReadersOfAFloatValueKeepIt) {
  auto b = transformer();
  const auto p = place(b.model(), {});
  for (const auto& [n, reads] : p.reads)
    EXPECT_TRUE(b.graph().node(n).op_type() == "MatMul") << b.graph().node(n).name();
  EXPECT_EQ(p.reads.size(), 3U) << "the product p·n reads n as it is";
}

TEST(Placement, WeightsThatAreNoConstantAreNamed) {
  ModelBuilder b;
  b.input("x", {-1, 2, 4, 4}).input("w", {2, 2, 1, 1}).output("y");
  b.node("Conv", {"x", "w"}, "c").conv("c", "y");
  const auto p = place(b.model(), {});
  ASSERT_EQ(p.float_layers.size(), 1U);
  EXPECT_EQ(p.float_layers[0].reason, "its weights are not a constant of the model");
}

TEST(Placement, WeightsOnTheLeftAreSaidToStandThere) {
  ModelBuilder b;
  b.input("x", {2, 2}).output("y").weights("w", {2, 2}).node("MatMul", {"w", "x"}, "m");
  b.weights("v", {2, 2}).node("MatMul", {"m", "v"}, "y");
  EXPECT_EQ(place(b.model(), {}).float_layers.at(0).reason, "its weights are the left factor");
}

TEST(Placement, NothingToQuantiseIsAnErrorWithItsReason) {
  ModelBuilder none;
  none.input("x", {2}).output("y").node("Relu", {"x"}, "y");
  EXPECT_NE(reason([&] { (void)place(none.model(), {}); }).find("no convolution and no matrix product"),
            std::string::npos);
  auto all = residual();
  EXPECT_NE(reason([&] { (void)place(all.model(), {.exclude = {"*"}}); }).find("'stem' (Conv): excluded"),
            std::string::npos);
}

TEST(Placement, QuantisedModelsAndOldOperatorSetsAreRefused) {
  auto quantised = residual();
  quantised.node("DequantizeLinear", {"x", "s"}, "d");
  EXPECT_NE(reason([&] { (void)place(quantised.model(), {}); }).find("quantised already: node 'd'"),
            std::string::npos);
  ModelBuilder old(9);
  old.input("x", {-1, 2, 4, 4}).output("y").conv("x", "y");
  const auto why = reason([&] { (void)place(old.model(), {}); });
  EXPECT_NE(why.find("operator set 9, int8 needs 10"), std::string::npos) << why;
  EXPECT_NE(why.find("onnx.version_converter"), std::string::npos) << why;
}

TEST(Glob, MatchesWholeNames) {
  EXPECT_TRUE(matches_glob("layer1.conv", "layer1*"));
  EXPECT_TRUE(matches_glob("layer1.conv", "*conv"));
  EXPECT_TRUE(matches_glob("layer1.conv", "l*1?c*v"));
  EXPECT_TRUE(matches_glob("", "*"));
  EXPECT_FALSE(matches_glob("layer1.conv", "layer1"));
  EXPECT_FALSE(matches_glob("conv1", "conv?1"));
  EXPECT_FALSE(matches_glob("a", ""));
}

// A branch with a convolution of its own.
void add_branch(ModelBuilder& b, const std::string& reads, const std::string& output) {
  b.weights(output + ".w", {2, 2, 1, 1}).node("If", {"go"}, output);
  auto& branch = *b.last().add_attribute();
  branch.set_name("then_branch");
  branch.set_type(proto::AttributeProto::GRAPH);
  add_node(*branch.mutable_g(), "Conv", "inner", Names{reads, output + ".w"}, Names{"inner"});
  branch.mutable_g()->add_output()->set_name("inner");
}

TEST(Placement, LayersInBranchesStayInFloat) {
  ModelBuilder b;
  b.input("x", {-1, 2, 4, 4}).input("go", {}, DType::kBool).output("y").conv("x", "a");
  add_branch(b, "a", "y");
  const auto p = place(b.model(), {});
  ASSERT_EQ(p.float_layers.size(), 1U);
  EXPECT_EQ(p.float_layers[0].name, "y/inner");
  EXPECT_EQ(p.float_layers[0].op, "Conv");
  EXPECT_EQ(p.float_layers[0].reason, "it is inside a branch of 'y'");
}

TEST(Placement, WhereAllLayersAreInABranchTheReasonIsTheBranch) {
  ModelBuilder b;
  b.input("x", {-1, 2, 4, 4}).input("go", {}, DType::kBool).output("y");
  add_branch(b, "x", "y");
  EXPECT_NE(reason([&] { place(b.model(), {}); }).find("it is inside a branch of 'y'"), std::string::npos);
}

TEST(Placement, LayersInFunctionsThatStayAreCounted) {
  ModelBuilder b;
  b.input("x", {-1, 2, 4, 4}).output("y").conv("x", "a").weights("w", {2, 2, 1, 1});
  b.node("block", {"a", "w"}, "y");
  b.last().set_domain("pkg");
  auto& function = *b.model().add_functions();
  function.set_name("block");
  function.set_domain("pkg");
  proto::GraphProto body;
  *function.add_node() = add_node(body, "Conv", "conv", Names{"p", "q"}, Names{"r"});
  const auto p = place(b.model(), {});
  ASSERT_EQ(p.float_layers.size(), 1U);
  EXPECT_EQ(p.float_layers[0].name, "y/conv");
}

}  // namespace
}  // namespace paceline::onnx
