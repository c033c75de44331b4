// SPDX-License-Identifier: MIT
#include "config/shape_profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::config {
namespace {

using testing::HasSubstr;

Settings shapes(const std::string& min, const std::string& opt, const std::string& max) {
  Settings s;
  if (!min.empty()) s.set("min_shapes", min);
  if (!opt.empty()) s.set("opt_shapes", opt);
  if (!max.empty()) s.set("max_shapes", max);
  return s;
}

const std::vector<TensorSpec> kInputs{{"x", DType::kFloat32, {-1, 3, 8}}, {"ids", DType::kInt64, {-1, -1}}};

template <typename Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    return error.what();
  }
  return "";
}

TEST(ShapeProfiles, NothingAskedGivesNoProfile) {
  EXPECT_TRUE(shape_profiles(Settings()).empty());
}

TEST(ShapeProfiles, OptStandsForWhatIsMissing) {
  EXPECT_EQ(shape_profiles(shapes("x:1x3", "x:4x3,y:2", "x:8x3")),
            (std::vector<ShapeProfile>{{{"x", {1, 3}, {4, 3}, {8, 3}}, {"y", {2}, {2}, {2}}}}));
}

TEST(ShapeProfiles, ASemicolonStartsAFurtherProfile) {
  const auto profiles = shape_profiles(shapes("x:1; x:9", "x:4; x:16", "x:8; x:32"));
  ASSERT_EQ(profiles.size(), 2U);
  EXPECT_EQ(profiles[1], (ShapeProfile{{"x", {9}, {16}, {32}}}));
}

TEST(ShapeProfiles, MistakesAreNamed) {
  const auto said = [](const std::string& min, const std::string& opt, const std::string& max) {
    return refusal([&] { (void)shape_profiles(shapes(min, opt, max)); });
  };
  EXPECT_THAT(said("x:1", "", ""), HasSubstr("need opt_shapes"));
  EXPECT_THAT(said("x:5", "x:4", "x:8"), HasSubstr("dimension 0 is 5 in min, 4 in opt and 8 in max"));
  EXPECT_THAT(said("", "x:4", "x:3"), HasSubstr("dimension 0 is 4 in min, 4 in opt and 3 in max"));
  EXPECT_THAT(said("x:1x2", "x:4", "x:8"), HasSubstr("2, 1 and 1 dimensions"));
  EXPECT_THAT(said("y:1", "x:4", ""), HasSubstr("names 'y', and opt_shapes does not"));
  EXPECT_THAT(said("x:1", "x:4;x:9", ""), HasSubstr("1 profiles and opt_shapes has 2"));
  EXPECT_THAT(said("", "x:-1", ""), HasSubstr("no whole number"));
}

TEST(CompleteProfiles, EveryInputGetsARange) {
  const auto profiles = complete_profiles({{{"ids", {1, 4}, {2, 8}, {4, 16}}}}, kInputs, 2);
  EXPECT_EQ(profiles, (std::vector<ShapeProfile>{
                          {{"x", {2, 3, 8}, {2, 3, 8}, {2, 3, 8}}, {"ids", {1, 4}, {2, 8}, {4, 16}}}}));
}

TEST(CompleteProfiles, WithoutShapesTheBatchIsFixed) {
  const std::vector<TensorSpec> inputs{{"x", DType::kFloat32, {-1, 3}}, {"y", DType::kFloat32, {5}}};
  EXPECT_EQ(complete_profiles({}, inputs, 8),
            (std::vector<ShapeProfile>{{{"x", {8, 3}, {8, 3}, {8, 3}}, {"y", {5}, {5}, {5}}}}));
}

TEST(CompleteProfiles, NamesProfilesThatDoNotFitTheModel) {
  const auto said = [](const ShapeProfile& profile) {
    return refusal([&] { (void)complete_profiles({profile}, kInputs, 1); });
  };
  const ShapeRange ids{"ids", {1, 4}, {1, 4}, {1, 4}};
  EXPECT_THAT(said({}), HasSubstr("'ids' [NxN] has a free dimension besides the batch"));
  EXPECT_THAT(said({ids, {"z", {1}, {1}, {1}}}), HasSubstr("no input 'z'; its inputs are: x, ids"));
  EXPECT_THAT(said({ids, {"x", {1, 3, 8}, {1, 3, 8}, {1, 3, 9}}}),
              HasSubstr("max_shapes of 'x' is 1x3x9, and the model's input is [Nx3x8]"));
  EXPECT_THAT(said({ids, {"x", {1, 3}, {1, 3}, {1, 3}}}), HasSubstr("min_shapes of 'x' is 1x3"));
}

TEST(CompleteProfiles, AShapeWithoutANameIsOfTheOnlyInput) {
  const std::vector<TensorSpec> one{{"x", DType::kFloat32, {-1, 3, 8}}};
  const auto profiles = complete_profiles(shape_profiles(shapes("1x3x8", "4x3x8", "8x3x8")), one, 1);
  EXPECT_EQ(range_text(profiles.at(0).at(0)), "x:1x3x8…8x3x8 (tuned for 4x3x8)");
  const auto mixed = complete_profiles(shape_profiles(shapes("1x3x8", "x:4x3x8", "8x3x8")), one, 1);
  EXPECT_EQ(mixed, profiles);
  EXPECT_EQ(complete_profiles(shape_profiles(shapes("x:1x3x8", "4x3x8", "8x3x8")), one, 1), profiles);
  EXPECT_THAT(refusal([] { complete_profiles(shape_profiles(shapes("", "4x3x8", "")), kInputs, 1); }),
              HasSubstr("the shape 4x3x8 names no input, and the model has 2: x, ids; write x:4x3x8"));
}

TEST(RangeText, SaysBoundsOnlyWhereTheyDiffer) {
  EXPECT_EQ(range_text({"x", {2, 3}, {2, 3}, {2, 3}}), "x:2x3");
  EXPECT_EQ(range_text({"x", {1, 3}, {4, 3}, {8, 3}}), "x:1x3…8x3 (tuned for 4x3)");
}

}  // namespace
}  // namespace paceline::config
