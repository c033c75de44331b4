// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "analysis/findings.h"
#include "analysis/metric_value.h"
#include "result/metric_table.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using result::CaseResult;
using result::RunResult;

CaseResult with_shapes(const std::vector<std::vector<result::NewShape>>& by_repetition) {
  auto one = testing::case_of({"m.onnx", "onnxruntime", "fp32", 8, 1, 300});
  one.label = "m.onnx onnxruntime fp32 b8";
  one.repetitions.resize(by_repetition.size());
  for (std::size_t i = 0; i < by_repetition.size(); ++i) one.repetitions[i].new_shapes = by_repetition[i];
  return one;
}

RunResult run_of(CaseResult one) {
  RunResult run;
  run.cases.push_back(std::move(one));
  return run;
}

TEST(NewShapes, ASlowFirstInferenceIsAFindingWithTheMedians) {
  const auto run = run_of(
      with_shapes({{{"batch 2", Number(12e6), Number(0.8e6)}, {"batch 4", Number(1e6), Number(0.9e6)}},
                   {{"batch 2", Number(14e6), Number(0.8e6)}, {"batch 4", Number(1e6), Number(0.9e6)}},
                   {{"batch 2", Number(99e6), Number(0.8e6)}, {"batch 4", Number(1e6), Number(0.9e6)}}}));
  const auto slow = find_slow_new_shapes(run);
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(
      slow[0].text,
      "m.onnx onnxruntime fp32 b8: the first inference of a new shape takes longer: batch 2 took 14.0 ms, "
      "then 800 µs.");
  EXPECT_EQ(slow[0].evidence, "medians over 3 repetitions");
  EXPECT_NE(slow[0].advice.find("Run each shape once"), std::string::npos);
  const auto others = find_new_shapes(run);
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others[0].text,
            "m.onnx onnxruntime fp32 b8: a new shape takes hardly longer at first: "
            "batch 4 took 1.00 ms, then 900 µs.");
  EXPECT_EQ(metric_value(*result::find_metric("new_shape_ms"), run.cases[0]).value, 14);
}

TEST(NewShapes, MicrosecondsAreNoWarning) {
  const auto warnings = [](double first_ns, double second_ns) {
    const std::vector<result::NewShape> one{{"batch 2", Number(first_ns), Number(second_ns)}};
    return find_slow_new_shapes(run_of(with_shapes({one, one, one}))).size();
  };
  EXPECT_EQ(warnings(60e3, 6e3), 0U);
  EXPECT_EQ(warnings(160e3, 60e3), 1U);
  EXPECT_EQ(warnings(1.9e6, 1e6), 0U);
}

TEST(NewShapes, FewProcessesAreListedWithoutAClaim) {
  const auto text = [](double first_ns, std::size_t processes) {
    const std::vector<result::NewShape> one{{"batch 2", Number(first_ns), Number(1e6)}};
    const auto run = run_of(with_shapes(std::vector(processes, one)));
    EXPECT_TRUE(find_slow_new_shapes(run).empty());
    return find_new_shapes(run).at(0).text;
  };
  EXPECT_EQ(text(9e6, 2), "m.onnx onnxruntime fp32 b8: batch 2 took 9.00 ms, then 1.00 ms.");
  EXPECT_EQ(text(1e6, 2), "m.onnx onnxruntime fp32 b8: batch 2 took 1.00 ms, then 1.00 ms.");
  EXPECT_EQ(text(1.5e6, 3), "m.onnx onnxruntime fp32 b8: batch 2 took 1.50 ms, then 1.00 ms.");
}

TEST(NewShapes, ARefusalHasItsReason) {
  for (const auto* words :
       {"this engine was loaded for batches of 8", "this engine was loaded for batches of 8."}) {
    const auto none = Number::missing(words);
    const auto run = run_of(with_shapes({{{"batch 2", none, none}}}));
    EXPECT_TRUE(find_slow_new_shapes(run).empty());
    ASSERT_EQ(find_new_shapes(run).size(), 1U);
    EXPECT_EQ(
        find_new_shapes(run)[0].text,
        "m.onnx onnxruntime fp32 b8: batch 2 could not be run: this engine was loaded for batches of 8.");
    EXPECT_FALSE(metric_value(*result::find_metric("new_shape_ms"), run.cases[0]).value);
  }
}

TEST(NewShapes, WithoutThemThereIsNoFinding) {
  const auto run = run_of(with_shapes({{}}));
  EXPECT_TRUE(find_slow_new_shapes(run).empty() && find_new_shapes(run).empty());
  EXPECT_EQ(metric_value(*result::find_metric("new_shape_ms"), run.cases[0]).reason,
            "no new shape was run (new_shapes)");
}

}  // namespace
}  // namespace paceline::analysis
