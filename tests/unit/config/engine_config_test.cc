// SPDX-License-Identifier: MIT
#include "config/engine_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/flags.h"
#include "config/option_table.h"

namespace paceline::config {
namespace {

using testing::HasSubstr;

Settings settings(const std::string& json, const std::vector<std::string>& arguments = {}) {
  return command_settings(with_engine_config(parse_flags(arguments, kBuild), json, "engine.json"));
}

std::string mistake(const std::string& json) {
  try {
    (void)settings(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(EngineConfig, HoldsTheOptionsOfBuild) {
  const auto s = settings(R"({"engine": "openvino", "precision": "int8", "batch": 4, "output": "m.blob",
                              "quantisation": {"samples": 8, "exclude": ["first", "fc"]}})");
  EXPECT_EQ(s.text("engine"), "openvino");
  EXPECT_EQ(s.text("precision"), "int8");
  EXPECT_EQ(s.integer("batch"), 4);
  EXPECT_EQ(s.text("output"), "m.blob");
  EXPECT_EQ(s.integer("quantisation.samples"), 8);
  EXPECT_EQ(s.texts("quantisation.exclude"), (std::vector<std::string>{"first", "fc"}));
}

TEST(EngineConfig, TakesShapesAsTextMapOrList) {
  EXPECT_EQ(settings(R"({"opt_shapes": "x:1x3"})").text("opt_shapes"), "x:1x3");
  EXPECT_EQ(settings(R"({"opt_shapes": {"x": [1, 3], "y": [2]}})").text("opt_shapes"), "x:1x3,y:2");
  EXPECT_EQ(settings(R"({"opt_shapes": [{"x": [1]}, {"x": [9]}]})").text("opt_shapes"), "x:1;x:9");
}

TEST(EngineConfig, TheCommandLineWins) {
  const auto s = settings(R"({"precision": "int8", "batch": 4})", {"--precision", "fp16"});
  EXPECT_EQ(s.text("precision"), "fp16");
  EXPECT_EQ(s.integer("batch"), 4);
}

TEST(EngineConfig, OtherSpellingsOfAnOptionAreKeysToo) {
  EXPECT_EQ(settings(R"({"optShapes": "x:1"})").text("opt_shapes"), "x:1");
  EXPECT_EQ(settings(R"({"onnx": "tiny_cnn"})").text("model"), "tiny_cnn");
}

TEST(EngineConfig, KeysOfOtherToolsMeanTheirOption) {
  const auto s = settings(R"({"onnx_path": "tiny_cnn", "engine_path": "m.plan", "fp16": true, "int8": false,
                              "workspace_mb": 512, "dla_core": 1, "calibration": {"cache": "c.json", "samples": 8},
                              "calibration_data": ["a.npz"], "batch_size": 4})");
  EXPECT_EQ(s.text("model"), "tiny_cnn");
  EXPECT_EQ(s.text("output"), "m.plan");
  EXPECT_EQ(s.text("precision"), "fp16");
  EXPECT_EQ(s.integer("workspace"), 512 << 20);
  EXPECT_EQ(s.integer("dla"), 1);
  EXPECT_EQ(s.text("calib_cache"), "c.json");
  EXPECT_EQ(s.texts("calib_data"), (std::vector<std::string>{"a.npz"}));
  EXPECT_EQ(s.integer("quantisation.samples"), 8);
  EXPECT_EQ(s.integer("batch"), 4);
  EXPECT_EQ(settings(R"({"workspace_gb": 2})").integer("workspace"), std::int64_t{2} << 30);
  EXPECT_EQ(settings(R"({"max_workspace_size": 1048576})").integer("workspace"), 1 << 20);
  EXPECT_EQ(settings(R"({"precision": "INT8"})").text("precision"), "int8");
}

TEST(EngineConfig, NullAndMinusOneAskForNothing) {
  const auto s = settings(R"({"dla_core": -1, "useDLACore": -1, "workspace": null, "calib_cache": null})");
  for (const char* name : {"dla", "workspace", "calib_cache"}) EXPECT_FALSE(s.has(name)) << name;
  EXPECT_EQ(settings(R"({"dla": null})").has("dla"), false);
}

TEST(EngineConfig, BoundsOfShapesMayStandByInputOrByBound) {
  for (const char* json :
       {R"({"shapes": {"x": {"min": [1, 3], "opt": [4, 3], "max": [8, 3]}}})",
        R"({"inputs": {"x": {"min": [1, 3], "opt": [4, 3], "max": [8, 3]}}})",
        R"({"profile": {"min": {"x": [1, 3]}, "opt": {"x": [4, 3]}, "max": {"x": [8, 3]}}})",
        R"({"min_shape": {"x": [1, 3]}, "opt_shape": {"x": [4, 3]}, "max_shape": {"x": [8, 3]}})"}) {
    const auto s = settings(json);
    EXPECT_EQ(s.text("min_shapes"), "x:1x3") << json;
    EXPECT_EQ(s.text("opt_shapes"), "x:4x3") << json;
    EXPECT_EQ(s.text("max_shapes"), "x:8x3") << json;
  }
  EXPECT_EQ(settings(R"({"shapes": {"x": [1, 3]}})").text("opt_shapes"), "x:1x3");
}

TEST(EngineConfig, ShapesWithoutANameAreOfTheInputThatTheFileNames) {
  const char* bounds = R"("min_shape": [1, 3], "opt_shape": [4, 3], "max_shape": [8, 3]})";
  const auto named = settings(std::string(R"({"input_name": "x", "zzz": null, )") + bounds);
  EXPECT_EQ(named.text("min_shapes"), "x:1x3");
  EXPECT_EQ(named.text("max_shapes"), "x:8x3");
  EXPECT_EQ(settings(std::string("{") + bounds).text("opt_shapes"), "4x3");
  EXPECT_EQ(settings(R"({"shapes": {"min": [1, 3], "opt": [4, 3], "max": [8, 3]}})").text("opt_shapes"),
            "4x3");
  EXPECT_EQ(settings(R"({"opt_shapes": [[1, 3], [4, 3]]})").text("opt_shapes"), "1x3;4x3");
  EXPECT_THAT(mistake(R"({"input_name": 3})"), HasSubstr("'input_name': unknown key"));
}

TEST(EngineConfig, CachesOfCalibrationMayBeEmpty) {
  EXPECT_EQ(settings(R"({"int8_calib_cache": "c.cache"})").text("calib_cache"), "c.cache");
  EXPECT_FALSE(settings(R"({"int8_calib_cache": "", "precision": "fp16"})").has("calib_cache"));
}

TEST(EngineConfig, KeysOfOtherToolsAreNamedInMistakes) {
  EXPECT_THAT(mistake(R"({"workspace_mb": "much"})"), HasSubstr("engine.json: 'workspace_mb'"));
  EXPECT_THAT(mistake(R"({"fp16": true, "int8": true})"),
              HasSubstr("'int8': sets an option that an earlier key"));
  EXPECT_THAT(mistake(R"({"fp16": "yes"})"), HasSubstr("unknown key"));
  EXPECT_THAT(mistake(R"({"calibration": {"colour": 1}})"), HasSubstr("'calibration.colour': unknown key"));
}

TEST(EngineConfig, MistakesNameFileAndKey) {
  EXPECT_THAT(mistake("{"), HasSubstr("engine config 'engine.json' is no JSON"));
  EXPECT_THAT(mistake("[1]"), HasSubstr("no JSON object"));
  EXPECT_THAT(mistake(R"({"precison": "fp16"})"),
              HasSubstr("engine.json: 'precison': unknown key; did you mean 'precision'?"));
  EXPECT_THAT(mistake(R"({"precision": "fp17"})"), HasSubstr("engine.json: 'precision': precision 'fp17'"));
  EXPECT_THAT(mistake(R"({"batch": [1, 2]})"), HasSubstr("'batch': takes one value"));
  EXPECT_THAT(mistake(R"({"onnx": "tiny_cnn", "model": "tiny_cnn"})"), HasSubstr("an earlier key"));
  for (const char* key : {"engine_config", "json", "quiet", "repetitions"})
    EXPECT_THAT(mistake(std::string("{\"") + key + "\": 1}"), HasSubstr("unknown key")) << key;
}

TEST(EngineConfigSchema, HasEveryKeyAndNoOther) {
  const auto schema = engine_config_schema();
  EXPECT_EQ(schema.at("additionalProperties"), false);
  for (const char* key : {"model", "engine", "precision", "min_shapes", "opt_shapes", "max_shapes", "output"})
    EXPECT_TRUE(schema.at("properties").contains(key)) << key;
  EXPECT_TRUE(schema.at("properties").at("quantisation").at("properties").contains("method"));
  for (const char* key : {"engine_config", "json", "help", "models"})
    EXPECT_FALSE(schema.at("properties").contains(key)) << key;
}

}  // namespace
}  // namespace paceline::config
