// SPDX-License-Identifier: MIT
// Facts of files that give them as sentences only, and that newer sentences decide nothing.
#include "result/stored/older_results.h"

#include <gtest/gtest.h>

#include "result/stored/result_json.h"

namespace paceline::result {
namespace {

TEST(OlderResults, VersionsAreComparedByTheirMinorNumber) {
  EXPECT_TRUE(is_older("1.2", 12) && is_older("1.11", 12));
  EXPECT_FALSE(is_older("1.12", 12) || is_older("1.13", 12) || is_older("odd", 12));
}

// The case, written in its version and read again.
CaseResult read_again(const CaseResult& one) {
  auto json = to_json(one);
  json["model_file"]["quantisation"].erase("excluded");
  return case_from_json(json, "result.json");
}

TEST(OlderResults, LayersThatWereExcludedAreFound) {
  CaseResult one;
  one.schema_version = "1.11";
  one.model_file.quantisation.float_layers = {"fc (Gemm): excluded",
                                              "q (MatMul): a product of two activations"};
  EXPECT_EQ(read_again(one).model_file.quantisation.excluded, std::vector<std::string>{"fc"});
  one.schema_version = kSchemaVersion;
  EXPECT_TRUE(read_again(one).model_file.quantisation.excluded.empty());
}

TEST(OlderResults, FactsOfTheCheckAreFound) {
  CaseResult one;
  auto& c = one.correctness;
  c.reference = "none: no engine here makes a reference for this model", c.inputs = "random, seed 1";
  c.detail = "the engine is wrong, not the file: its output differs by 0.3";
  c.verdict_because =
      "output 'y': the inputs are generated: whether its answers hold needs yours (--load-inputs)";
  one.reason = "its fp32 reference could not be made: no such model";
  one.operator_profile.emplace().source = "PyTorch's profiler (Kineto): times of the device's work";
  const auto facts_in = [&](const char* version) {
    one.schema_version = version;
    return read_again(one);
  };
  const auto older = facts_in("1.5"), newer = facts_in(kSchemaVersion);
  EXPECT_EQ(older.correctness.unchecked_because, "no engine here makes a reference for this model");
  EXPECT_TRUE(older.correctness.generated_inputs && older.correctness.engine_strays);
  EXPECT_TRUE(older.correctness.needs_inputs && older.lacks_reference && older.operator_profile->on_device);
  EXPECT_EQ(newer.correctness.unchecked_because, "");
  EXPECT_FALSE(newer.correctness.generated_inputs || newer.correctness.engine_strays);
  EXPECT_FALSE(newer.correctness.needs_inputs || newer.lacks_reference || newer.operator_profile->on_device);
}

TEST(OlderResults, TheBuiltInModelsHaveConvolutions) {
  CaseResult one;
  one.schema_version = "1.5", one.benchmark.model = "resnet50";
  EXPECT_EQ(read_again(one).flops.convolution_share, Number(0.9995));
  one.benchmark.model = "resnet_mlp.pt";
  EXPECT_FALSE(read_again(one).flops.convolution_share);
}

TEST(OlderResults, AReferenceByTheEngineOfTheCaseIsNotIndependent) {
  CaseResult one;
  one.schema_version = "1.5", one.correctness.checked = true;
  one.correctness.reference = "the file's own run, by the engine of the case: no independent check";
  EXPECT_EQ(read_again(one).correctness.independence, one.correctness.reference);
  one.schema_version = kSchemaVersion;
  EXPECT_EQ(read_again(one).correctness.independence, "");
}

}  // namespace
}  // namespace paceline::result
