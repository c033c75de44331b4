// SPDX-License-Identifier: MIT
#include "onnx/calibration.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "model_builder.h"
#include "support/words.h"

namespace paceline::onnx {
namespace {

using test::reason;

TensorView view(const std::string& name, Floats& values) {
  return {name, values.data(), DType::kFloat32, {static_cast<std::int64_t>(values.size())}, {}, {}};
}

Calibration example() {
  return {"m",
          "d",
          {RangeMethod::kPercentile, 99.9},
          32,
          "onnxruntime 1.31",
          {{"x", {-0.1F, 3}}, {"y", {0, 1}}},
          {{"x", 2}, {"y", 4}}};
}

TEST(Calibration, ValuesBecomeOutputsOnce) {
  ModelBuilder b;
  b.input("x", {-1}).output("y").node("Relu", {"x"}, "m").node("Neg", {"m"}, "y");
  const auto extended = with_outputs(b.model(), {"x", "m", "y"});
  ASSERT_EQ(extended.graph().output_size(), 2);
  EXPECT_EQ(extended.graph().output(0).name(), "y") << "the model's own output stays the first";
  EXPECT_EQ(extended.graph().output(1).name(), "m");
}

TEST(Calibration, RangesAreThoseOfAllBatches) {
  Calibrator calibrator({"x"});
  Floats first{1, -1}, second{4}, other{100};
  calibrator.observe(std::vector{view("x", first), view("other", other)});
  calibrator.observe(std::vector{view("x", second)});
  EXPECT_EQ(calibrator.ranges({RangeMethod::kMinMax}), (Ranges{{"x", {-1, 4}}}));
}

TEST(Calibration, AValueNeverSeenOrNotFiniteIsNamed) {
  Calibrator calibrator({"conv1"});
  EXPECT_NE(reason([&] { (void)calibrator.ranges({}); }).find("saw no data of 'conv1'"), std::string::npos);
  Floats bad{1, std::numeric_limits<float>::infinity()};
  calibrator.observe(std::vector{view("conv1", bad)});
  EXPECT_NE(reason([&] { (void)calibrator.ranges({}); }).find("1 values of 'conv1' that are NaN"),
            std::string::npos);
}

TEST(Calibration, CacheComesBackAsWritten) {
  const auto c = example();
  const auto back = calibration_from_json(calibration_to_json(c), "cache.json");
  EXPECT_EQ(back.ranges, c.ranges);
  EXPECT_EQ(back.ranks, c.ranks);
  EXPECT_EQ(back.rule, c.rule);
  EXPECT_EQ(back.samples, 32);
  EXPECT_EQ(back.source, c.source);
  EXPECT_EQ(why_not_reusable(back, c, {"x", "y"}), "");
}

TEST(Calibration, CacheOfAnotherModelDataOrMethodIsNotUsed) {
  const auto wanted = example();
  auto kept = example();
  kept.model_sha256 = "other";
  EXPECT_EQ(why_not_reusable(kept, wanted, {}), "it belongs to another model");
  kept = example();
  kept.data_sha256 = "other";
  EXPECT_EQ(why_not_reusable(kept, wanted, {}), "it was made from other data");
  kept = example();
  kept.rule.method = RangeMethod::kMinMax;
  EXPECT_EQ(why_not_reusable(kept, wanted, {}), "it was made with minmax over 32 samples");
  EXPECT_EQ(why_not_reusable(wanted, wanted, {"z"}), "it has no range of 'z'");
  kept = wanted;
  kept.ranks.clear();
  EXPECT_EQ(why_not_reusable(kept, wanted, {"x"}), "it has no rank of 'x'");
}

TEST(Calibration, RubbishIsRefusedByName) {
  for (const char* text : {"", "{}", "[1]", R"({"format": "paceline-calibration", "version": 99})"})
    EXPECT_NE(reason([&] { (void)calibration_from_json(text, "c.json"); }).find("'c.json'"),
              std::string::npos)
        << text;
}

TEST(Calibration, TensorRtReadsScalesAsBitsOfFloats) {
  EXPECT_EQ(calibration_to_tensorrt({{"images", {0, 1}}, {"conv", {-254, 3}}}),
            "TRT-100100-EntropyCalibration2\nconv: 40000000\nimages: 3c010204\n");
}

}  // namespace
}  // namespace paceline::onnx
