// SPDX-License-Identifier: MIT
#include "onnx/index_limits.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "model_builder.h"
#include "onnx/declared_inputs.h"
#include "onnx/model_file.h"

namespace paceline::onnx {
namespace {

namespace fs = std::filesystem;

class IndexLimits : public testing::Test {
 protected:
  void TearDown() override { fs::remove(file_); }
  // The first input, as it stands in the file.
  DeclaredInput first_of(ModelBuilder& model) {
    write_model(model.model(), file_);
    auto inputs = read_declared_inputs(file_.string());
    add_index_limits(file_.string(), inputs);
    return inputs.at(0);
  }
  static ModelBuilder ids(DType dtype = DType::kInt64, const Shape& shape = {-1, 4}) {
    ModelBuilder model;
    model.input("ids", shape, dtype);
    return model;
  }
  static ModelBuilder& axis(ModelBuilder& model, std::int64_t axis, const char* name = "axis") {
    set_attribute(model.last(), name, axis);
    return model;
  }
  fs::path file_ =
      fs::path(testing::TempDir()) /
      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".limits.onnx");
};

TEST_F(IndexLimits, AreTheRowsOfTheTable) {
  auto model = ids();
  EXPECT_EQ(first_of(model.weights("t", {50, 8}).node("Gather", {"t", "ids"}, "y")).id_limit, 50);
  auto one = ids(DType::kInt32, {});
  EXPECT_EQ(first_of(one.weights("t", {1, 8}).node("Gather", {"t", "ids"}, "y")).id_limit, 1);
}

TEST_F(IndexLimits, ANumberThatTheFileComparesIsKnown) {
  ModelBuilder model;
  model.input("sr", {}, DType::kInt64).input("other", {}, DType::kInt64);
  const std::int64_t rates[] = {16000, 8000};
  for (const auto& rate : rates)
    *model.graph().add_initializer() =
        make_tensor(std::to_string(rate), Shape{}, std::span<const std::int64_t>(&rate, 1));
  model.node("Reshape", {"sr", "s"}, "flat").node("Equal", {"16000", "flat"}, "wide");
  model.node("Equal", {"sr", "8000"}, "narrow").node("Equal", {"other", "sr"}, "same");
  write_model(model.model(), file_);
  EXPECT_EQ(compared_numbers(file_.string()), (std::map<std::string, std::int64_t>{{"sr", 16000}}));
}

TEST_F(IndexLimits, AreAlongTheAxis) {
  auto model = ids();
  EXPECT_EQ(first_of(axis(model.weights("t", {50, 8}).node("Gather", {"t", "ids"}, "y"), 1)).id_limit, 8);
  auto back = ids();
  EXPECT_EQ(first_of(axis(back.weights("t", {50, 8}).node("Gather", {"t", "ids"}, "y"), -2)).id_limit, 50);
  auto elements = ids();
  EXPECT_EQ(
      first_of(axis(elements.weights("t", {3, 9}).node("GatherElements", {"t", "ids"}, "y"), 1)).id_limit, 9);
}

TEST_F(IndexLimits, ReachThroughWhatKeepsNumbers) {
  auto model = ids(DType::kInt32);
  model.weights("t", {30, 8}).node("Cast", {"ids"}, "a").node("Reshape", {"a", "s"}, "b");
  model.node("Unsqueeze", {"b"}, "c").node("Transpose", {"c"}, "d").node("Concat", {"d", "d"}, "e");
  EXPECT_EQ(first_of(model.node("Gather", {"t", "e"}, "y")).id_limit, 30);
  auto shifted = ids();
  EXPECT_EQ(
      first_of(shifted.weights("t", {30, 8}).node("Add", {"ids", "two"}, "a").node("Gather", {"t", "a"}, "y"))
          .id_limit,
      0)
      << "a sum is another number";
}

TEST_F(IndexLimits, AreTheSmallestOfSeveralTables) {
  auto model = ids();
  model.weights("t", {30, 8}).weights("u", {20, 8}).node("Gather", {"t", "ids"}, "y");
  EXPECT_EQ(first_of(model.node("Gather", {"u", "ids"}, "z")).id_limit, 20);
}

TEST_F(IndexLimits, KnowTablesThatAreConvertedOrConstants) {
  auto quantised = ids();
  quantised.weights("t", {30, 8}).node("DequantizeLinear", {"t", "s"}, "f");
  EXPECT_EQ(first_of(quantised.node("Gather", {"f", "ids"}, "y")).id_limit, 30);
  auto constant = ids();
  constant.node("Constant", {}, "t");
  auto& value = *constant.last().add_attribute();
  value.set_name("value");
  *value.mutable_t() = make_tensor("", Shape{6, 2}, Floats(12));
  EXPECT_EQ(first_of(constant.node("Gather", {"t", "ids"}, "y")).id_limit, 6);
}

TEST_F(IndexLimits, KnowOtherOperatorsThatIndex) {
  auto one_hot = ids();
  const std::vector<std::int64_t> depth{7};
  *one_hot.graph().add_initializer() = make_tensor("depth", Shape{}, depth);
  EXPECT_EQ(first_of(one_hot.node("OneHot", {"ids", "depth", "v"}, "y")).id_limit, 7);
  auto pairs = ids();
  EXPECT_EQ(first_of(pairs.weights("t", {5, 4}).node("GatherND", {"t", "ids"}, "y")).id_limit, 4);
  auto bert = ids();
  bert.weights("w", {100, 4}).weights("p", {16, 4}).weights("s", {2, 4});
  EXPECT_EQ(first_of(bert.node("EmbedLayerNormalization", {"ids", "ids", "w", "p", "s"}, "y")).id_limit, 2);
}

TEST_F(IndexLimits, KnowDepthsOfEveryType) {
  auto one_hot = ids();
  *one_hot.graph().add_initializer() = make_tensor("depth", Shape{}, Floats{9});
  EXPECT_EQ(first_of(one_hot.node("OneHot", {"ids", "depth", "v"}, "y")).id_limit, 9);
}

TEST_F(IndexLimits, KnowRotaryEmbeddingsOfBothDomains) {
  auto contrib = ids();
  contrib.input("x", {-1, 4, 16}, DType::kFloat32).weights("cos", {64, 4}).weights("sin", {64, 4});
  contrib.node("RotaryEmbedding", {"x", "ids", "cos", "sin"}, "y");
  contrib.last().set_domain("com.microsoft");
  EXPECT_EQ(first_of(contrib).id_limit, 64);
  auto standard = ids();
  standard.input("x", {-1, 4, 16}, DType::kFloat32).weights("cos", {32, 4}).weights("sin", {32, 4});
  EXPECT_EQ(first_of(standard.node("RotaryEmbedding", {"x", "cos", "sin", "ids"}, "y")).id_limit, 32);
}

TEST_F(IndexLimits, DoNotReachThroughATruth) {
  const auto truth = static_cast<std::int64_t>(onnx_type(DType::kBool));
  auto mask = ids();
  mask.weights("t", {2, 8}).weights("u", {30, 8});
  set_attribute(mask.node("Cast", {"ids"}, "b").last(), "to", truth);
  mask.node("Cast", {"b"}, "i").node("Gather", {"t", "i"}, "y");
  EXPECT_EQ(first_of(mask).id_limit, 0) << "a mask that picks one of two rows";
  auto condition = ids();
  condition.weights("t", {2, 8}).node("Where", {"ids", "one", "two"}, "w");
  EXPECT_EQ(first_of(condition.node("Gather", {"t", "w"}, "y")).id_limit, 0);
  auto branch = ids();
  branch.weights("t", {30, 8}).node("Where", {"c", "ids", "two"}, "w");
  EXPECT_EQ(first_of(branch.node("Gather", {"t", "w"}, "y")).id_limit, 30);
}

TEST_F(IndexLimits, ReachIntoBranchesAndLoops) {
  auto branch = ids();
  branch.weights("t", {30, 8}).node("If", {"c"}, "y");
  auto& then = *branch.last().add_attribute();
  then.set_name("then_branch");
  add_node(*then.mutable_g(), "Gather", "g", Names{"t", "ids"}, Names{"g"});
  EXPECT_EQ(first_of(branch).id_limit, 30);
  auto loop = ids();
  loop.weights("t", {40, 8}).node("Loop", {"n", "c", "ids"}, "y");
  auto& body = *loop.last().add_attribute();
  body.set_name("body");
  for (const char* name : {"i", "go", "state"})
    *body.mutable_g()->add_input() = make_value_info({name, DType::kInt64, {}});
  add_node(*body.mutable_g(), "Gather", "g", Names{"t", "state"}, Names{"g"});
  EXPECT_EQ(first_of(loop).id_limit, 40);
}

TEST_F(IndexLimits, AreADimensionOfAnotherInput) {
  auto model = ids(DType::kInt32, {-1});
  model.input("x", {-1, 16});
  const auto beam = first_of(model.node("Gather", {"x", "ids"}, "y"));
  EXPECT_EQ(beam.id_limit, 0);
  EXPECT_EQ(beam.indexes, (std::vector<IndexedInput>{{"ids", 0}})) << "the first input with the symbol N";
  auto fixed = ids(DType::kInt32, {-1});
  fixed.input("x", {4, 16});
  EXPECT_EQ(first_of(axis(fixed.node("Gather", {"x", "ids"}, "y"), 1)).id_limit, 16);
}

TEST_F(IndexLimits, AreUnknownWithoutATable) {
  auto model = ids();
  const auto input = first_of(model.node("Cast", {"ids"}, "y"));
  EXPECT_EQ(input.id_limit, 0);
  EXPECT_TRUE(input.indexes.empty());
}

}  // namespace
}  // namespace paceline::onnx
