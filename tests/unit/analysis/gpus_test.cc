// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analysis/findings.h"
#include "result/judged/shared_work.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A closed loop on as many devices as there are numbers, each of which completes so many requests in six
// repetitions.
CaseResult on_gpus(const std::vector<std::int64_t>& completed, double per_s) {
  auto one = ::paceline::testing::case_of({"resnet50", "eager", "fp32", 1, 50, 300});
  const auto gpus = std::ssize(completed);
  one.case_id += fmt::format("-g{}", gpus);
  one.label += fmt::format(" g{}", gpus);
  one.benchmark.scenario = Scenario::kClosedLoop;
  one.benchmark.device = "cuda", one.benchmark.gpus = gpus;
  one.throughput.per_s = {per_s, per_s * 0.99, per_s * 1.01, 0.95, "batch_means"};
  result::Load load;
  for (const auto count : completed)
    if (completed.size() > 1)
      load.instances.push_back({std::ssize(load.instances), "0", count, count, 0, 0, 0, ""});
  one.payload = load;
  for (auto& r : one.repetitions) r.payload = load;
  return one;
}

// Repeats the last repetition.
CaseResult repeated(CaseResult one, std::int64_t repetitions) {
  while (std::ssize(one.repetitions) < repetitions) {
    one.repetitions.push_back(one.repetitions.back());
    ++one.repetitions.back().index;
  }
  return one;
}

RunResult compared(std::vector<CaseResult> cases) {
  RunResult run;
  run.cases = std::move(cases);
  std::vector<CaseResult*> all;
  for (auto& one : run.cases) all.push_back(&one);
  result::compare_replicas(all);
  return run;
}

result::DeviceState clock(const std::string& device, double mhz) {
  result::DeviceState state;
  state.device = device;
  state.sm_clock_mean_mhz = mhz;
  return state;
}

TEST(GpuScaling, EveryNumberHasItsEfficiency) {
  auto run = compared({on_gpus({9, 9, 9, 9}, 320), on_gpus({9}, 100), on_gpus({9, 9}, 190)});
  const auto found = find_gpu_scaling(run);
  ASSERT_EQ(found.size(), 1U);
  const auto& text = found[0].text;
  EXPECT_THAT(
      text,
      HasSubstr(
          "100 images/s (99.0–101) on 1 GPU; 2 GPUs do 1.90x the work, an efficiency of 95.0 % (95.0–"));
  EXPECT_THAT(text, HasSubstr("; 4 GPUs do 3.20x the work, an efficiency of 80.0 % (80.0–"));
  EXPECT_THAT(text, Not(HasSubstr("no claim")));
  EXPECT_EQ(found[0].about.front(), run.cases[1].case_id);
  run.cases[2].repetitions.resize(5);
  run = compared(run.cases);
  EXPECT_THAT(find_gpu_scaling(run).at(0).text,
              HasSubstr("95.0 % (no claim: fewer than six pairs of processes)"));
}

TEST(GpuScaling, NeedsASweep) {
  EXPECT_TRUE(find_gpu_scaling(compared({on_gpus({9, 9}, 190)})).empty());
}

TEST(SlowDevice, IsNamedWithItsShareAndItsClock) {
  auto one = repeated(on_gpus({100, 70, 101}, 271), 7);
  one.devices = {clock("cuda:0", 1980), clock("cuda:1", 1410), clock("cuda:2", 1975)};
  const auto found = find_slow_devices(compared({one}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(
      found[0].text,
      HasSubstr("g3: cuda:1 did 69.7 % of the work of the median of the others (69.7–69.7 %), 70.0 images/s; "
                "its mean clock is 1410 MHz, the highest of the others 1980 MHz."));
  EXPECT_THAT(found[0].advice, HasSubstr("--devices 1"));
  one.repetitions.resize(3);
  EXPECT_THAT(find_slow_devices(compared({one})).at(0).text,
              HasSubstr("(no claim: 3 of 7 processes that a claim needs)"));
}

// The slowest of eight is slow by chance more often than one of two.
TEST(SlowDevice, OneOfManyNeedsMoreProcesses) {
  const auto eight = on_gpus({100, 100, 100, 70, 100, 100, 100, 100}, 770);
  for (const auto& [repetitions, needed] : {std::pair{7, "no claim: 7 of 9"}, {8, "no claim: 8 of 9"}})
    EXPECT_THAT(find_slow_devices(compared({repeated(eight, repetitions)})).at(0).text, HasSubstr(needed));
  EXPECT_THAT(find_slow_devices(compared({repeated(eight, 9)})).at(0).text, Not(HasSubstr("no claim")));
}

TEST(SlowDevice, AlikeOnesAreNot) {
  EXPECT_TRUE(find_slow_devices(compared({on_gpus({100, 99, 101}, 300)})).empty());
  auto few = on_gpus({100, 95}, 195);
  few.repetitions.resize(3);
  EXPECT_TRUE(find_slow_devices(compared({few})).empty());
}

TEST(SlowDevice, AProcessOnTheCpuIsNamedByItsCpus) {
  auto one = repeated(on_gpus({100, 70}, 170), 7);
  one.benchmark.device.clear(), one.benchmark.gpus.reset(), one.benchmark.instances = 2;
  const auto found = find_slow_devices(compared({one}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].text, HasSubstr("process 2 did 70.0 % of the work of the other"));
  EXPECT_THAT(found[0].advice, HasSubstr("its CPUs (0)"));
}

}  // namespace
}  // namespace paceline::analysis
