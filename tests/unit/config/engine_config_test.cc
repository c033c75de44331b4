// SPDX-License-Identifier: MIT
#include "config/engine_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
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
