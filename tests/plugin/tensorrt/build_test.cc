// SPDX-License-Identifier: MIT
// How options, shapes and models reach TensorRT's builder, and what becomes of its refusals.
#include "plugin/tensorrt/double_test.h"

namespace paceline::tensorrt_test {
namespace {

class TensorRtBuild : public Double {
 protected:
  std::pair<std::optional<ErrorCode>, std::string> refusal(const std::string& lines,
                                                           const plugin::BuildSettings& with = settings()) {
    const auto error = error_of([&] { (void)build(lines, with); });
    EXPECT_EQ(read("m.plan"), "") << "a file was left";
    return error;
  }
};

TEST_F(TensorRtBuild, NetworksAreStronglyTyped) {
  (void)build(kModel);
  EXPECT_THAT(read("m.plan"), HasSubstr("strongly_typed 1"));
}

TEST_F(TensorRtBuild, Tf32IsOffUnlessAskedFor) {
  EXPECT_EQ(value_of(build(kModel).settings, "tf32"), "off");
  auto with = settings();
  with.precision = "tf32";
  EXPECT_EQ(value_of(build(kModel, with).settings, "tf32"), "on");
  with.precision = "fp16";
  EXPECT_EQ(value_of(build(kModel, with).settings, "tf32"), "off");
}

TEST_F(TensorRtBuild, SettingsAreReadBack) {
  auto with = settings();
  with.options = {{"workspace", "4294967296"}};
  const auto report = build(std::string(kModel) + "layer conv int8\nlayer conv int8\n", with);
  EXPECT_EQ(value_of(report.settings, "workspace_limit_bytes"), "4294967296");
  EXPECT_EQ(value_of(report.settings, "device"), "GPU");
  EXPECT_EQ(value_of(report.settings, "profiling_verbosity"), "detailed");
  EXPECT_EQ(value_of(report.settings, "layer_types"), "float32 1, int8 2");
}

TEST_F(TensorRtBuild, EveryProfileHasItsRanges) {
  auto with = settings();
  with.profiles.push_back({{"x", {16, 4}, {32, 4}, {64, 4}}});
  EXPECT_EQ(value_of(build(kModel, with).settings, "profiles"), "2");
  EXPECT_THAT(read("m.plan"), AllOf(HasSubstr("profile 0 x min 1 4 opt 2 4 max 8 4"),
                                    HasSubstr("profile 1 x min 16 4 opt 32 4 max 64 4")));
}

TEST_F(TensorRtBuild, ShapesThatAreNoRange) {
  auto with = settings();
  with.profiles = {{{"x", {8, 4}, {2, 4}, {1, 4}}}};
  EXPECT_EQ(refusal(kModel, with).first, ErrorCode::kUsage);
  with.profiles = {{{"x", Shape(9, 1), Shape(9, 1), Shape(9, 1)}}};
  const auto [code, text] = refusal(kModel, with);
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_THAT(text, HasSubstr("9 dimensions"));
}

TEST_F(TensorRtBuild, OperatorsThatItDoesNotHaveAreNamedWithTheirNodes) {
  const auto [code, text] =
      refusal(std::string(kModel) + "unsupported Frobnicate frob_7 No importer registered\n");
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_THAT(text, AllOf(HasSubstr("operator Frobnicate (node 'frob_7'): No importer registered"),
                          HasSubstr("export the model without it")));
}

TEST_F(TensorRtBuild, NamesOperatorsThatDoNotExist) {
  const auto text = refusal(std::string(kModel) +
                            "unsupported Frob f creator && \"Plugin not found, is its name right?\"\n")
                        .second;
  EXPECT_THAT(text, HasSubstr("operator Frob (node 'f'): unknown; "));
}

TEST_F(TensorRtBuild, ManyErrorsAreCounted) {
  std::string lines = kModel;
  for (int i = 0; i < 5; ++i) lines += "unsupported Op n" + std::to_string(i) + " no\n";
  const auto [code, text] = refusal(lines);
  EXPECT_THAT(text, AllOf(HasSubstr("'n2'"), HasSubstr("and 2 more"), testing::Not(HasSubstr("'n3'"))));
}

TEST_F(TensorRtBuild, FilesThatAreNoModel) {
  const auto [code, text] = refusal("nonsense\n");
  EXPECT_EQ(code, ErrorCode::kData);
  EXPECT_THAT(text, AllOf(HasSubstr("m.onnx': Failed to parse the file; "), HasSubstr("damaged")));
  EXPECT_EQ(refusal("").first, ErrorCode::kData);
}

TEST_F(TensorRtBuild, ReportsItsOwnRefusals) {
  const auto [code, text] =
      refusal(std::string(kModel) +
              "build_error IBuilder::buildSerializedNetwork: Error Code 10: no kernel for node conv_3\n");
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_THAT(text, AllOf(HasSubstr("m.onnx"), HasSubstr(": no kernel for node conv_3"),
                          testing::Not(HasSubstr("Error Code"))));
}

TEST_F(TensorRtBuild, RefusesUnknownOptionsAndPrecisions) {
  auto with = settings();
  with.options = {{"wrokspace", "1"}};
  EXPECT_EQ(refusal(kModel, with).first, ErrorCode::kUsage);
  with.options = {{"workspace", "much"}};
  EXPECT_THAT(refusal(kModel, with).second, AllOf(HasSubstr("workspace"), HasSubstr("much")));
  with = settings();
  with.precision = "bf16";
  EXPECT_EQ(refusal(kModel, with).first, ErrorCode::kUnsupported);
}

TEST_F(TensorRtBuild, DlaWhereTheVersionHasIt) {
  auto with = settings();
  with.options = {{"dla", "1"}};
  if (DOUBLE_VERSION >= 11) {
    const auto [code, text] = refusal(kModel, with);
    EXPECT_EQ(code, ErrorCode::kUnsupported);
    EXPECT_THAT(text, HasSubstr("no DLA here"));
    return;
  }
  EXPECT_EQ(value_of(build(kModel, with).settings, "device"), "DLA core 1, the rest on the GPU");
  with.options = {{"dla", "2"}};
  const auto [code, text] = error_of([&] { (void)build(kModel, with); });
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_THAT(text, HasSubstr("there are 2 cores"));
}

TEST_F(TensorRtBuild, KernelsAreChosenOnTheDeviceThatIsNamed) {
  (void)build(kModel);
  EXPECT_THAT(read("m.plan"), HasSubstr("built_on 0"));
  auto with = settings();
  with.options = {{"device", "cuda:1"}};
  (void)build(kModel, with);
  EXPECT_THAT(read("m.plan"), HasSubstr("built_on 1"));
}

TEST_F(TensorRtBuild, ADeviceThatIsNotThere) {
  auto with = settings();
  with.options = {{"device", "cuda:2"}};
  const auto [code, text] = refusal(kModel, with);
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_THAT(text, AllOf(HasSubstr("cuda:2"), HasSubstr("shows 2")));
}

TEST_F(TensorRtBuild, TheTimingCacheGrows) {
  auto with = settings();
  with.options = {{"timing_cache", folder_.file("times")}};
  (void)build(kModel, with);
  EXPECT_EQ(read("times"), "times+");
  (void)build(kModel, with);
  EXPECT_EQ(read("times"), "times+times+");
}

TEST_F(TensorRtBuild, RefusesAnInvalidTimingCache) {
  auto with = settings();
  with.options = {{"timing_cache", write("times", "something else")}};
  const auto [code, text] = refusal(kModel, with);
  EXPECT_EQ(code, ErrorCode::kData);
  EXPECT_THAT(text, AllOf(HasSubstr("timing cache"), HasSubstr("Failed to deserialize")));
  EXPECT_EQ(read("times"), "something else");
}

TEST_F(TensorRtBuild, WhatItSaysGoesToTheLog) {
  auto with = settings();
  with.log_file = folder_.file("build.log");
  (void)build(kModel, with);
  EXPECT_EQ(read("build.log"), "[info] building\n");
}

}  // namespace
}  // namespace paceline::tensorrt_test
