// SPDX-License-Identifier: MIT
#include "config/new_shapes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "plan_helpers.h"

namespace paceline::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<InputShape> kLoaded = parse_input_shapes("ids:{batch}x128:int64,mask:{batch}x128,speed:1");
const std::vector<DeclaredInput> kDeclared{{"ids", DType::kInt64, Shape{-1, -1}, {"batch", "tokens"}},
                                           {"mask", DType::kFloat32, Shape{-1, -1}, {"batch", "tokens"}},
                                           {"speed", DType::kFloat32, Shape{1}, {""}}};
const std::vector<TensorSpec> kInputs{
    {"ids", DType::kInt64, {2, 128}}, {"mask", {}, {2, 128}}, {"speed", {}, {1}}};

std::vector<std::string> completed(const std::vector<std::string>& texts,
                                   const std::vector<DeclaredInput>& declared = kDeclared) {
  return new_shape_texts(complete_new_shapes(parse_new_shapes(texts), kLoaded, declared, 2));
}

std::string refusal(const std::vector<std::string>& texts,
                    const std::vector<DeclaredInput>& declared = kDeclared) {
  try {
    completed(texts, declared);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    return error.what();
  }
  return "";
}

TEST(NewShapes, AnInputThatComesAgainBeginsTheNext) {
  EXPECT_EQ(parse_new_shapes({"1", "ids:1x32", "mask:1x32", "4", "ids:1x64"}).size(), 4U);
  EXPECT_EQ(parse_new_shapes({"ids:1x32,mask:1x32", "ids:1x64,mask:1x64"}).size(), 2U);
}

TEST(NewShapes, InputsThatAreNotWrittenFollowTheirSymbols) {
  EXPECT_THAT(completed({"1", "ids:1x32:int64"}), ElementsAre("1", "ids:1x32", "mask:1x32", "speed:1"));
  EXPECT_THAT(completed({"mask:{batch}x64"}), ElementsAre("ids:{batch}x64", "mask:{batch}x64", "speed:1"));
  const auto texts = completed({"1", "ids:1x32", "ids:1x64"});  // a stored plan is read again
  EXPECT_EQ(completed(texts), texts);
}

TEST(NewShapes, AreRefusedWhereAnInputThatIsNotWrittenMayHaveToFollow) {
  EXPECT_THAT(refusal({"ids:1x32"}, {}), HasSubstr("new shape 'ids:1x32' leaves out inputs"));
  EXPECT_THAT(refusal({"ids:1x32"}, {}), HasSubstr("write a shape of each: mask, speed"));
  EXPECT_THAT(refusal({"ids:1x32,mask:1x32"}, {}), HasSubstr("write a shape of each: speed"));
  EXPECT_THAT(completed({"ids:1x128"}, {}), ElementsAre("ids:1x128", "mask:1x128", "speed:1"));
  auto without_symbols = kDeclared;
  for (auto& input : without_symbols) input.symbols.clear();
  EXPECT_THAT(refusal({"ids:1x32"}, without_symbols), HasSubstr("write a shape of each: mask"));
  EXPECT_THAT(completed({"ids:1x32,mask:1x32"}, without_symbols),
              ElementsAre("ids:1x32", "mask:1x32", "speed:1"));
}

TEST(NewShapes, DifferInTheirSizes) {
  EXPECT_THAT(refusal({"1", "ids:1x128"}), HasSubstr("new shape 'ids:1x128' has the sizes of '1'; keep one"));
  EXPECT_THAT(refusal({"ids:2x32", "ids:{batch}x32"}), HasSubstr("has the sizes of 'ids:2x32'"));
  EXPECT_THAT(refusal({"1", "1"}), HasSubstr("new shape '1' has the sizes of '1'"));
  EXPECT_EQ(completed({"ids:1x32", "speed:1", "ids:1x64", "speed:1"}).size(), 6U);
}

TEST(NewShapes, FitIntoWhatIsLoaded) {
  EXPECT_THAT(refusal({"ids:3x32"}), HasSubstr("does not fit into 'ids:{batch}x128'"));
  EXPECT_THAT(refusal({"ids:1x129"}), HasSubstr("does not fit"));
  EXPECT_THAT(refusal({"ids:0x32"}), HasSubstr("does not fit"));
  EXPECT_THAT(refusal({"ids:2x128"}), HasSubstr("new shape 'ids:2x128' is the one that is loaded"));
  EXPECT_THAT(refusal({"ids:1x32x4"}), HasSubstr("another number of dimensions"));
  EXPECT_THAT(refusal({"x:1x32"}), HasSubstr("is of no input of the model, which has ids:{batch}x128:int64"));
  EXPECT_THAT(refusal({"0"}), HasSubstr("is no batch from 1"));
  EXPECT_THAT(refusal({"large"}), HasSubstr("is incomplete"));
}

TEST(NewShapes, AreNamedByWhatChanges) {
  const auto named = [](const std::string& text) {
    return sized(complete_new_shapes(parse_new_shapes({text}), kLoaded, kDeclared, 2).at(0), kInputs,
                 {0, 0, -1}, 2);
  };
  EXPECT_EQ(named("1").name, "batch 1");
  EXPECT_THAT(named("1").sizes, ElementsAre(Shape{1, 128}, Shape{1, 128}, Shape{1}));
  EXPECT_EQ(named("ids:{batch}x32").name, "2x32");
  EXPECT_EQ(named("ids:1x32,mask:1x32").name, "1x32");
  EXPECT_EQ(named("ids:1x32,mask:1x64").name, "ids:1x32, mask:1x64");
  EXPECT_THAT(named("ids:1x32,mask:1x64").sizes, ElementsAre(Shape{1, 32}, Shape{1, 64}, Shape{1}));
}

TEST(NewShapes, OfAFileAreReadAgainFromAStoredPlan) {
  const TemporaryFile file("paceline_new_shapes.onnx");
  ExtraNames extra;
  extra.declared_inputs = [](const std::string&, const std::string&, const auto&) { return kDeclared; };
  const auto plan = load_plan_text("kind: inference\nmodel: " + file.path() +
                                       "\nshapes: 'ids:{batch}x128,mask:{batch}x128,speed:1'\nbatch: 2\n"
                                       "new_shapes: ['ids:1x32', 'speed:1', 'ids:1x64', 'speed:1']\n",
                                   "p.yaml", {}, extra);
  EXPECT_TRUE(same_plan(plan, load_plan_text(effective_yaml(plan), "effective.yaml", {}, extra)));
  const auto shapes = case_new_shapes(expand(plan).at(0));
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_THAT(shapes[1].sizes, ElementsAre(Shape{1, 64}, Shape{1, 64}, Shape{1}));
}

TEST(NewShapes, OfSeveralBuiltInModelsAreThoseOfEach) {
  for (const char* models : {"bert-large, gpt2", "gpt2, bert-large"}) {
    const auto plan = plan_of(fmt::format(
        "kind: inference\nmodels: [{}]\nbatch_sizes: [2, 4]\nnew_shapes: ['input_ids:1x32', '1']\n", models));
    EXPECT_TRUE(same_plan(plan, load_plan_text(effective_yaml(plan), "effective.yaml")));
    for (const auto& item : expand(plan)) {
      const auto shapes = case_new_shapes(item);
      ASSERT_EQ(shapes.size(), 2U);
      EXPECT_EQ(shapes[0].name, "1x32");
      EXPECT_EQ(shapes[1].name, "batch 1");
      EXPECT_THAT(shapes[0].sizes, testing::SizeIs(case_inputs(item).size()));
      EXPECT_THAT(shapes[0].sizes, testing::Each(Shape{1, 32}));
    }
  }
  EXPECT_THAT(mistake_of("kind: inference\nmodels: [bert-large, gpt2]\nbatch: 2\n"
                         "new_shapes: ['attention_mask:1x32']\n"),
              HasSubstr("model 'gpt2': new shape 'attention_mask:1x32' is of no input of the model"));
}

}  // namespace
}  // namespace paceline::config
