// SPDX-License-Identifier: MIT
// Cost of a run beside its passes: it must grow with the number of cases, not with its square. Judged is the
// time that this program computes; what the file system takes is shown.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/clock.h"
#include "base/scratch_folder.h"
#include "result/figures/aligned_steps.h"
#include "result/figures/summarize_training.h"
#include "run/coordinator.h"
#include "support/fake_executor.h"
#include "support/simulated_training.h"
#include "support/step_files.h"

namespace paceline::run {
namespace {

constexpr std::int64_t kFewCases = 100;

// In memory where there is such a file system. PACELINE_SCALE_FOLDER says elsewhere: the bar of 1,000 cases
// in 30 s is meant for a disk.
std::filesystem::path scratch_folder() {
  if (const char* asked = std::getenv("PACELINE_SCALE_FOLDER")) return asked;
  return std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : ::testing::TempDir();
}

struct Cost {
  double computing_s = 0, wall_s = 0;
};

double computing_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

Cost cost_of(std::int64_t cases) {
  std::string threads;  // which leave the inputs the same
  for (std::int64_t i = 1; i <= cases; ++i) threads += (i > 1 ? "," : "") + std::to_string(i);
  const auto plan = config::load_plan_text(
      "kind: inference\nmodel: tiny_cnn\nengine: eager\nidle_wait_s: 0\nrepetitions: 6\nthreads: [" +
          threads + "]\n",
      "scale.yaml");
  const EngineDirectory engines(
      {{"torch", "torch.so", {{plugin::Role::kEngine, "eager", "cpu"}}, {}, "", ""}});
  RunSetup setup{plan, config::expand(plan),     {}, false,  false, engines, {},
                 {},   nlohmann::json::object(), {}, nullptr};
  const ScratchFolder scratch(scratch_folder() / fmt::format("paceline-scale-{}-{}", ::getpid(), cases));
  result::RunDirectory directory(scratch.path() / "run", result::CaseFiles::kInFolders);
  RunObserver observer;
  const std::atomic<bool> interrupt{false};
  testing::FakeExecutor fake;
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  const double computed = computing_s();
  const auto done = run_plan(std::move(setup), directory, observer, interrupt, fake);
  EXPECT_EQ(done.outcome, "ok");
  EXPECT_EQ(fake.order(/*timed_only=*/true).size(), static_cast<std::size_t>(6 * cases));
  return {computing_s() - computed, static_cast<double>(clock.now_ns() - begin) * 1e-9};
}

// An idle machine stays below 12 times. Beside other tests caches are shared and it may be more; work that
// grows with the square of the cases makes it 100 times.
TEST(Scale, TenTimesTheCasesCostInProportion) {
  const auto small = cost_of(kFewCases), large = cost_of(10 * kFewCases);
  const double ratio = large.computing_s / small.computing_s;
  std::printf("%lld cases x 6: %.2f s (%.2f s computing), %lld: %.2f s (%.2f s), %.1f times the computing\n",
              static_cast<long long>(kFewCases), small.wall_s, small.computing_s,
              static_cast<long long>(10 * kFewCases), large.wall_s, large.computing_s, ratio);
  EXPECT_LE(ratio, 20);
}

// User time of reading the steps of so many ranks and of their figures; the least of a few.
double analysis_s(std::int64_t ranks) {
  const ScratchFolder scratch = ScratchFolder::below_temp("paceline-scale");
  const auto file = scratch.path() / "steps.bin";
  testing::write_step_file(file, testing::simulate({.ranks = ranks, .steps = 200}).ranks);
  double least = 0;
  for (int round = 0; round < 3; ++round) {
    const double begin = computing_s();
    const auto read = result::read_step_file(file);
    result::Training training;
    training.ddp = true;
    result::summarize_training(training, read.ranks, 8);
    EXPECT_EQ(result::step_samples(read.ranks, 0).size(), 196U);
    const double took = computing_s() - begin;
    least = round == 0 ? took : std::min(least, took);
  }
  return least;
}

// About 5 times on an idle machine; work that grows with the square of the ranks makes it 16 times.
TEST(Scale, FourTimesTheRanksCostInProportion) {
  const double few = analysis_s(128), many = analysis_s(512);
  std::printf("128 ranks x 200 steps: %.3f s, 512: %.3f s, %.1f times\n", few, many, many / few);
  EXPECT_LE(many, 10 * few);
}

}  // namespace
}  // namespace paceline::run
