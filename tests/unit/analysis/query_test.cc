// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "analysis/case_query.h"
#include "analysis/cpu_features.h"
#include "analysis/metric_value.h"
#include "analysis/verdict.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using ::paceline::testing::sample_run;

TEST(CaseQuery, DifferingAxes) {
  const auto run = sample_run();
  EXPECT_TRUE(differing_axes(run.cases[0].benchmark, run.cases[0].benchmark).empty());
  EXPECT_EQ(differing_axes(run.cases[0].benchmark, run.cases[4].benchmark),
            (std::vector<std::string>{"precision", "batch"}));
  auto other = run.cases[0].benchmark;
  other.params["sequence_length"] = "128";
  EXPECT_EQ(differing_axes(run.cases[0].benchmark, other), std::vector<std::string>{"params"});
}

TEST(CaseQuery, BaselinesAreThoseOthersPointTo) {
  const auto run = sample_run();
  EXPECT_TRUE(is_baseline(run, run.cases[0]));
  EXPECT_FALSE(is_baseline(run, run.cases[1]));
}

TEST(CaseQuery, ListsAFewLabels) {
  const auto run = sample_run();
  EXPECT_EQ(list_labels({&run.cases[0], &run.cases[1], &run.cases[2]}, 2),
            "resnet50 eager fp32 b1, resnet50 torchscript fp32 b1 and 1 more");
}

TEST(CpuFeatures, KnownAbsentAndUnknown) {
  const nlohmann::json list = {{"cpu", {{"flags", {"avx2", "amx_bf16"}}}}};
  EXPECT_EQ(cpu_has(list, "amx_bf16"), true);
  EXPECT_EQ(cpu_has(list, "amx"), false);
  EXPECT_EQ(cpu_has({{"cpu", {{"isa", "avx2 avx512_bf16"}}}}, "avx512_bf16"), true);
  EXPECT_EQ(cpu_has({{"cpu", {{"isa", nullptr}}}}, "avx2"), std::nullopt);
  EXPECT_EQ(cpu_has(nlohmann::json::object(), "avx2"), std::nullopt);
  EXPECT_EQ(missing_precision_support({{"cpu", {{"flags", {"avx512_bf16", "amx_bf16"}}}}}, "bf16"), "");
  EXPECT_EQ(missing_precision_support({{"cpu", {{"flags", {"avx512_bf16"}}}}}, "amp_bf16"),
            "this CPU has no AMX");
}

TEST(MetricValue, WhatDidNotRunHasNoZero) {
  const auto run = sample_run();
  const auto& samples = *result::find_metric("samples");
  EXPECT_EQ(metric_value(samples, run.cases[0]).value, 360);
  EXPECT_FALSE(metric_value(samples, run.cases[8]).value.has_value());
  EXPECT_EQ(metric_value(samples, run.cases[8]).reason, "case skipped");
}

TEST(MetricValue, KnowsWhichMetricsCarryIntervals) {
  for (const char* name : {"p50_ms", "p90_ms", "p95_ms", "p99_ms", "throughput_per_s", "speedup"})
    EXPECT_TRUE(carries_interval(*result::find_metric(name))) << name;
  for (const char* name : {"memory_mb", "mean_ms", "samples", "foreign_cpu_frac"})
    EXPECT_FALSE(carries_interval(*result::find_metric(name))) << name;
}

TEST(Verdict, OneSentenceWithTheBestAndTheCounts) {
  EXPECT_EQ(verdict_sentence(sample_run()),
            "resnet50 does 32.0 images/s with bf16 eager at batch 8 (2.05x its baseline, 1.99–2.11); "
            "vit_b_16 does 6.67 images/s "
            "with fp32 torchscript at batch 1 (1.05x its baseline, 1.02–1.08); 8 of 10 cases measured (7 of "
            "grade A, 1 of grade B).");
  EXPECT_EQ(verdict_sentence({}), "No case gave a valid number; 0 of 0 cases measured.");
}

}  // namespace
}  // namespace paceline::analysis
