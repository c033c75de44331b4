// SPDX-License-Identifier: MIT
// How the estimate of --dry-run follows the plan, and stored runs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/scratch_folder.h"
#include "config/plan.h"
#include "result/run_directory.h"
#include "run/kinds.h"
#include "run/stored_speeds.h"

namespace paceline::run {
namespace {

config::Case case_of(const std::string& lines) {
  return config::expand(config::load_plan_text(lines, "p.yaml")).at(0);
}
config::Case inference_lines(const std::string& lines) {
  return case_of("kind: inference\nmodels: [resnet50]\n" + lines);
}

TEST(Estimate, FixedIterationsCostWhatTheyAre) {
  const double few = estimated_seconds(inference_lines("iterations: 100\nwarmup_iterations: 0\n"));
  const double many = estimated_seconds(inference_lines("iterations: 300\nwarmup_iterations: 0\n"));
  const double most = estimated_seconds(inference_lines("iterations: 500\nwarmup_iterations: 0\n"));
  EXPECT_GT(many, few);
  EXPECT_NEAR(most - many, many - few, 1e-6 * most);
}

TEST(Estimate, SleepsBetweenInferencesCount) {
  const auto added_s = [](const std::string& gap, const std::string& lines) {
    const std::string once = "repetitions: 1\n";
    return estimated_seconds(inference_lines(once + lines + "gap: " + gap + "\n")) -
           estimated_seconds(inference_lines(once + lines + "gap: 0\n"));
  };
  EXPECT_NEAR(added_s("1s", "iterations: 200\nwarmup_iterations: 10\n"), 210, 0.01);
  EXPECT_GE(added_s("1s", "warmup: {max_time_s: 5}\nstop: {n_min: 30}\n"), 30);
  EXPECT_GE(added_s("60s", "warmup: {max_time_s: 5}\nstop: {n_min: 30}\n"), 60 * 33);
}

TEST(Estimate, RepetitionsCountButTheCheckIsRunOnce) {
  const std::string lines = "iterations: 50\nwarmup_iterations: 0\n";
  const double one = estimated_seconds(inference_lines(lines + "repetitions: 1\n"));
  const double three = estimated_seconds(inference_lines(lines + "repetitions: 3\n"));
  EXPECT_GT(three, one);
  EXPECT_LT(three, 3 * one);
}

TEST(Estimate, AnUnsteadyMachineTakesTheTimeLimit) {
  const auto c = inference_lines("stop:\n  t_max_s: 500\n");
  EXPECT_GE(estimated_seconds(c, {Times::kUnsteady}), 500);
  EXPECT_LE(estimated_seconds(c), estimated_seconds(c, {Times::kUnsteady}));
}

TEST(Estimate, WithoutACheckThereIsLessToRun) {
  EXPECT_LT(estimated_seconds(inference_lines("iterations: 1\naccuracy:\n  check: off\n")),
            estimated_seconds(inference_lines("iterations: 1\n")));
}

TEST(Estimate, TrainingCountsItsStepsAndRanks) {
  const std::string start =
      "kind: training\nmodels: [resnet50]\nbenchmark:\n  warmup_steps: 0\n  measure_steps: ";
  const double ten = estimated_seconds(case_of(start + "10\n"));
  const double twenty = estimated_seconds(case_of(start + "20\n"));
  EXPECT_GT(twenty, ten);
}

// Pictures beside the classes, hidden ones and held-out ones are in no epoch.
TEST(Estimate, EpochsOfAnImageFolderCountItsPictures) {
  const auto scratch = ScratchFolder::below_temp("paceline-pictures");
  const auto add = [&](const std::string& folder, int count) {
    std::filesystem::create_directories(scratch.path() / folder);
    for (int i = 0; i < count; ++i)
      write_file_atomic(scratch.path() / folder / (std::to_string(i) + ".JPG"), "");
  };
  add("train", 30), add("train/a", 20), add("train/b", 20), add("val/a", 50), add("train/.c", 9);
  const auto c = case_of(
      "kind: training\nmodels: [resnet50]\nbatch: 10\ntraining: {epochs: 100}\ndata: "
      "{source: image_folder, path: " +
      scratch.path().string() + "}\n");
  const double forty = estimated_seconds(c);
  add("train/d", 40);
  const double eighty = estimated_seconds(c);
  std::filesystem::remove_all(scratch.path() / "val");  // now data.path has the class folder train
  EXPECT_GT(eighty, forty);
  EXPECT_NEAR(estimated_seconds(c) - eighty, (eighty - forty) * 30 / 40, 1e-6 * eighty);
}

TEST(Estimate, ASweepCountsItsSizes) {
  const std::string start = "kind: collective\nranks: [2]\nsize_time_s: 1\niterations: 10\nmax_bytes: ";
  const double small = estimated_seconds(case_of(start + "1K\n"));
  const double large = estimated_seconds(case_of(start + "1M\n"));
  EXPECT_GT(large, small + 10);  // ten sizes more, a second each
}

double second_of_day(const std::string& utc) {
  int hours = 0, minutes = 0, seconds = 0;
  EXPECT_EQ(std::sscanf(utc.c_str() + utc.find('T'), "T%d:%d:%dZ", &hours, &minutes, &seconds), 3);
  return hours * 3600 + minutes * 60 + seconds;
}

// Runs of few steps and of small messages, which take as long as their processes need to start.
TEST(Estimate, StoredRunsTookAboutThat) {
  // Times are stored in whole seconds, and an estimate has at least the second that each process may need.
  constexpr double kTolerated = 2.1, kOfMiddle = 4;
  for (const auto* name : {"comm", "train", "profile"}) {
    const auto folder = std::filesystem::path(PACELINE_SOURCE_DIR) / "tests/cli/data/0.1.0" / name;
    const auto run = result::read_run(folder).run;
    double least = 0, most = 0;
    for (const auto& c :
         config::expand(config::load_plan_text(read_file(folder / "plan.yaml"), "plan.yaml"))) {
      EXPECT_EQ(c.not_available, "");
      least += estimated_seconds(c, {Times::kSteady, End::kLow});
      most += estimated_seconds(c, {Times::kSteady, End::kHigh});
    }
    const double took = second_of_day(run.finished_utc) - second_of_day(run.started_utc);
    EXPECT_LE(least, took + kTolerated) << name;
    EXPECT_GE(most, took) << name;
    EXPECT_NEAR(std::sqrt(least * most), took, kOfMiddle) << name;  // the figure of a program
  }
}

double low(const config::Case& c) {
  return estimated_seconds(c, {Times::kSteady, End::kLow});
}

TEST(Estimate, AModelFileTakesTimeByItsSize) {
  const auto scratch = ScratchFolder::below_temp("paceline-estimate");
  const auto file = scratch.path() / "m.xml";
  write_file_atomic(file, "<net/>");
  const auto c = case_of("kind: inference\nmodels: [" + file.string() +
                         "]\nshapes: \"x:{batch}x3\"\niterations: 100\nwarmup_iterations: 0\n");
  EXPECT_TRUE(is_guessed(c));
  EXPECT_FALSE(is_guessed(inference_lines("")));
  const double small = forward_seconds(c, End::kHigh);
  write_file_atomic(file, std::string(4'000'000, ' '));
  EXPECT_GT(forward_seconds(c, End::kHigh), small);
  EXPECT_GT(forward_seconds(c, End::kHigh), 10 * forward_seconds(c, End::kLow));  // nobody knows its work
}

TEST(Estimate, AStoredSpeedNarrowsTheRange) {
  const auto c = inference_lines("iterations: 100\nwarmup_iterations: 0\n");
  const StoredSpeed speed{0.01, 0.5};
  const double least = estimated_seconds(c, {Times::kSteady, End::kLow, speed}),
               most = estimated_seconds(c, {Times::kSteady, End::kHigh, speed});
  EXPECT_LT(least, most);
  EXPECT_LT(most / least, 3);
  EXPECT_GT(estimated_seconds(c, {Times::kSteady, End::kLow, StoredSpeed{0.1, 0.5}}), most);
}

TEST(Estimate, IsTheSameAMomentLater) {
  const auto c = inference_lines("");
  EXPECT_DOUBLE_EQ(low(c), low(c));
}

TEST(StoredSpeeds, AreOfTheSameCaseOnThisHost) {
  const auto results = std::filesystem::path(PACELINE_SOURCE_DIR) / "tests/cli/data/0.1.0";
  const auto c =
      config::expand(config::load_plan_text(read_file(results / "train/plan.yaml"), "plan.yaml")).at(0);
  const auto found = StoredSpeeds(results, "5bce98f73f3ed0c8").of(c);
  ASSERT_TRUE(found);
  EXPECT_GT(found->iteration_s, 0);
  EXPECT_GT(found->start_s, 0);
  EXPECT_FALSE(StoredSpeeds(results, "another host").of(c));
  EXPECT_FALSE(StoredSpeeds(results, "").of(c));
  EXPECT_FALSE(StoredSpeeds(results / "nothing", "5bce98f73f3ed0c8").of(c));
  EXPECT_FALSE(StoredSpeeds(results, "5bce98f73f3ed0c8").of(inference_lines("")));
}

TEST(StoredSpeeds, AnotherOptionIsAnotherCase) {
  const auto results = std::filesystem::path(PACELINE_SOURCE_DIR) / "tests/cli/data/0.1.0";
  const StoredSpeeds speeds(results, "5bce98f73f3ed0c8");
  const auto plan = read_file(results / "train/plan.yaml");
  const auto with = [&](std::string_view line, const std::string& other) {
    auto text = plan;
    text.replace(text.find(line), line.size(), other);
    return config::expand(config::load_plan_text(text, "plan.yaml")).at(0);
  };
  EXPECT_TRUE(speeds.of(with("repetitions: 1", "repetitions: 3")));
  EXPECT_FALSE(speeds.of(with("seed: 42", "seed: 42\n      num_classes: 100000")));
  EXPECT_FALSE(speeds.of(with("deterministic: false", "deterministic: true")));
}

TEST(StoredSpeeds, ARunThatCannotBeReadIsLeftOut) {
  const auto scratch = ScratchFolder::below_temp("paceline-speeds");
  std::filesystem::create_directories(scratch.path() / "experiment" / "run");
  write_file_atomic(scratch.path() / "experiment" / "run" / "run_summary.json", "{");
  EXPECT_FALSE(StoredSpeeds(scratch.path(), "host").of(inference_lines("")));
}

TEST(Estimate, CasesThatCannotRunTakeNoTime) {
  auto c = inference_lines("");
  c.not_available = "there is no such engine";
  EXPECT_EQ(estimated_seconds(c), 0);
}

}  // namespace
}  // namespace paceline::run
