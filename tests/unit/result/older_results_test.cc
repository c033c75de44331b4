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
  if (is_older(one.schema_version, kFactsSince)) json["model_file"]["quantisation"].erase("excluded");
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

}  // namespace
}  // namespace paceline::result
