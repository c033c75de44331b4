// SPDX-License-Identifier: MIT
#include "pass/sensitivity.h"

#include <gtest/gtest.h>

namespace paceline::pass {
namespace {

Sensitivity example() {
  Sensitivity s;
  s.engine = "ONNX Runtime 1.31.1";
  s.method = "percentile 99.99";
  s.data = "images of 'calib'";
  s.samples = 8;
  s.target = 0.95;
  s.layers = {{"conv1", "Conv", {0.91, 0.2}}, {"fc", "Gemm", {0.999, 0.01}}};
  s.all = {0.9, 0.3};
  return s;
}

bool says(const Sensitivity& s, const std::string& words) {
  return sensitivity_table(sensitivity_json(s)).find(words) != std::string::npos;
}

TEST(Sensitivity, TheTableHasEveryLayerAndWhatRan) {
  const auto s = example();
  for (const char* words : {"conv1", "0.910000", "0.2000", "fc", "Gemm", "all layers", "0.900000",
                            "8 samples, ONNX Runtime 1.31.1, ranges by percentile 99.99"})
    EXPECT_TRUE(says(s, words)) << words;
}

TEST(Sensitivity, AdviceIsWhatWasMeasured) {
  auto s = example();
  EXPECT_TRUE(says(s, "do not suit int8"));
  s.exclude = {"conv1"};
  s.after_exclusion = {0.98, 0.05};
  EXPECT_TRUE(says(s, "--quantisation.exclude conv1  (measured: 0.980000)"));
  s.all.centred_cosine = 0.96;
  s.exclude.clear();
  EXPECT_TRUE(says(s, "nothing to exclude"));
}

TEST(Sensitivity, OneSampleGivesNoAdvice) {
  auto s = example();
  s.all.centred_cosine = Number::missing("needs two samples");
  EXPECT_TRUE(says(s, "give more calibration data"));
}

}  // namespace
}  // namespace paceline::pass
