// SPDX-License-Identifier: MIT
// How the estimate of --dry-run follows the plan. The machine's speed is whatever it is, so that only
// relations count.
#include "cli/estimate.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline::cli {
namespace {

config::Case case_of(const std::string& lines) {
  return config::expand(config::load_plan_text(lines, "p.yaml")).at(0);
}
config::Case inference(const std::string& lines) {
  return case_of("kind: inference\nmodels: [resnet50]\n" + lines);
}

TEST(Estimate, FixedIterationsCostWhatTheyAre) {
  const double few = estimated_seconds(inference("iterations: 100\nwarmup_iterations: 0\n"));
  const double many = estimated_seconds(inference("iterations: 300\nwarmup_iterations: 0\n"));
  const double most = estimated_seconds(inference("iterations: 500\nwarmup_iterations: 0\n"));
  EXPECT_GT(many, few);
  EXPECT_NEAR(most - many, many - few, 1e-6 * most);
}

TEST(Estimate, RepetitionsCountButTheCheckIsRunOnce) {
  const std::string lines = "iterations: 50\nwarmup_iterations: 0\n";
  const double one = estimated_seconds(inference(lines + "repetitions: 1\n"));
  const double three = estimated_seconds(inference(lines + "repetitions: 3\n"));
  EXPECT_GT(three, one);
  EXPECT_LT(three, 3 * one);
}

TEST(Estimate, AnUnsteadyMachineTakesTheTimeLimit) {
  const auto c = inference("stop:\n  t_max_s: 500\n");
  EXPECT_GE(estimated_seconds(c, Times::kUnsteady), 500);
  EXPECT_LE(estimated_seconds(c), estimated_seconds(c, Times::kUnsteady));
}

TEST(Estimate, WithoutACheckThereIsLessToRun) {
  EXPECT_LT(estimated_seconds(inference("iterations: 1\naccuracy:\n  check: off\n")),
            estimated_seconds(inference("iterations: 1\n")));
}

TEST(Estimate, TrainingCountsItsStepsAndRanks) {
  const std::string start =
      "kind: training\nmodels: [resnet50]\nbenchmark:\n  warmup_steps: 0\n  measure_steps: ";
  const double ten = estimated_seconds(case_of(start + "10\n"));
  const double twenty = estimated_seconds(case_of(start + "20\n"));
  EXPECT_GT(twenty, ten);
}

TEST(Estimate, ASweepCountsItsSizes) {
  const std::string start = "kind: collective\nranks: [2]\nsize_time_s: 1\niterations: 10\nmax_bytes: ";
  const double small = estimated_seconds(case_of(start + "1K\n"));
  const double large = estimated_seconds(case_of(start + "1M\n"));
  EXPECT_GT(large, small + 10);  // ten sizes more, a second each
}

TEST(Estimate, AModelFileIsAssumed) {
  const auto scratch = ScratchFolder::below_temp("paceline-estimate");
  const auto file = scratch.path() / "m.xml";
  write_file_atomic(file, "");
  const auto read = case_of("kind: inference\nmodels: [" + file.string() + "]\nshapes: \"x:{batch}x3\"\n");
  EXPECT_GT(assumed_sample_s(read).value_or(0), 0);
  EXPECT_FALSE(assumed_sample_s(inference("")));
}

TEST(Estimate, WhatCannotRunTakesNoTime) {
  auto c = inference("");
  c.not_available = "there is no such engine";
  EXPECT_EQ(estimated_seconds(c), 0);
}

}  // namespace
}  // namespace paceline::cli
