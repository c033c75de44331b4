// SPDX-License-Identifier: MIT
#include "config/new_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

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
  auto shapes = parse_new_shapes(texts);
  for (auto& shape : shapes) shape = complete_new_shape(shape, kLoaded, declared, 2);
  return new_shape_texts(shapes);
}

std::string refusal(const std::string& text) {
  try {
    completed({text});
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
  EXPECT_THAT(completed({"ids:2x32"}, {}), ElementsAre("ids:2x32", "mask:{batch}x128", "speed:1"));
  const auto texts = completed({"1", "ids:1x32", "ids:1x64"});  // a stored plan is read again
  EXPECT_EQ(completed(texts), texts);
}

TEST(NewShapes, FitIntoWhatIsLoaded) {
  EXPECT_THAT(refusal("ids:3x32"), HasSubstr("does not fit into 'ids:{batch}x128'"));
  EXPECT_THAT(refusal("ids:1x129"), HasSubstr("does not fit"));
  EXPECT_THAT(refusal("ids:0x32"), HasSubstr("does not fit"));
  EXPECT_THAT(refusal("ids:2x128"), HasSubstr("new shape 'ids:2x128' is the one that is loaded"));
  EXPECT_THAT(refusal("ids:1x32x4"), HasSubstr("another number of dimensions"));
  EXPECT_THAT(refusal("x:1x32"), HasSubstr("is of no input of the model, which has ids:{batch}x128:int64"));
  EXPECT_THAT(refusal("0"), HasSubstr("is no batch from 1"));
  EXPECT_THAT(refusal("large"), HasSubstr("is incomplete"));
}

TEST(NewShapes, AreNamedByWhatChanges) {
  const auto named = [](const std::string& text) {
    return sized(complete_new_shape(parse_new_shapes({text}).at(0), kLoaded, {}, 2), kInputs, {0, 0, -1}, 2);
  };
  EXPECT_EQ(named("1").name, "batch 1");
  EXPECT_THAT(named("1").sizes, ElementsAre(Shape{1, 128}, Shape{1, 128}, Shape{1}));
  EXPECT_EQ(named("ids:{batch}x32").name, "2x32");
  EXPECT_EQ(named("ids:1x32,mask:1x32").name, "1x32");
  EXPECT_EQ(named("ids:1x32,mask:1x64").name, "ids:1x32, mask:1x64");
  EXPECT_THAT(named("ids:1x32,mask:1x64").sizes, ElementsAre(Shape{1, 32}, Shape{1, 64}, Shape{1}));
}

}  // namespace
}  // namespace paceline::config
