// SPDX-License-Identifier: MIT
#include "result/judged/shared_work.h"

#include <gtest/gtest.h>

#include <utility>

#include "result/judged/training_scaling.h"
#include "support/sample_runs.h"

namespace paceline::result {
namespace {

using Completed = std::vector<std::int64_t>;

InstanceLoad instance(std::int64_t index, std::int64_t completed) {
  return {index, std::to_string(index), completed, completed, 0, 0, 0, ""};
}

Load load_of(const Completed& completed) {
  Load load;
  for (const auto count : completed) load.instances.push_back(instance(std::ssize(load.instances), count));
  return load;
}

// A closed loop on `gpus` devices, in each of six repetitions with the same numbers of requests.
CaseResult on_gpus(std::int64_t gpus, double per_s, const Completed& completed) {
  auto one = ::paceline::testing::case_of({"resnet50", "eager", "fp32", 1, 50, 300});
  one.case_id += "-g" + std::to_string(gpus);
  one.benchmark.scenario = Scenario::kClosedLoop;
  one.benchmark.device = "cuda", one.benchmark.gpus = gpus;
  one.throughput.per_s = {per_s, per_s * 0.99, per_s * 1.01, 0.95, "batch_means"};
  one.payload = load_of(completed);
  for (auto& r : one.repetitions) r.payload = load_of(completed);
  return one;
}

TEST(SharedWork, EachDeviceHasItsPartOfTheThroughput) {
  auto one = on_gpus(2, 300, {20, 10});
  auto parts = work_parts(one);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].name, "cuda:0");
  EXPECT_EQ(parts[1].name, "cuda:1");
  EXPECT_DOUBLE_EQ(*parts[0].per_s, 200);
  EXPECT_DOUBLE_EQ(*parts[1].per_s, 100);
  one.benchmark.params["devices"] = "3,1";
  EXPECT_EQ(work_parts(one)[0].name, "cuda:3");
  one.benchmark.params["instances_per_device"] = "2";
  one.payload = load_of({20, 10, 5, 5});
  parts = work_parts(one);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[1].name, "cuda:1");
  EXPECT_EQ(parts[1].cpus, "2; 3");
  EXPECT_EQ(parts[1].completed, 10);
  EXPECT_DOUBLE_EQ(*parts[1].per_s, 75);
  one.benchmark.device.clear(), one.benchmark.gpus.reset(), one.benchmark.instances = 4;
  EXPECT_EQ(work_parts(one)[3].name, "process 4");
  one.load()->instances.clear();
  EXPECT_TRUE(work_parts(one).empty());
}

TEST(SharedWork, TheSlowestIsJudgedBesideTheMedianOfTheOthers) {
  auto one = on_gpus(4, 300, {100, 80, 101, 99});
  const auto slow = slowest_replica(one);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->index, 1U);
  EXPECT_DOUBLE_EQ(slow->of_others.value, 0.8);
  EXPECT_EQ(slow->of_others.processes, 6);
  ASSERT_TRUE(slow->of_others.ci);
  EXPECT_DOUBLE_EQ(slow->of_others.ci->high, 0.8);
  one.benchmark.scenario = Scenario::kServer;
  EXPECT_FALSE(slowest_replica(one));
  const auto idle = slowest_replica(on_gpus(2, 300, {100, 0}));
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->index, 1U);
  EXPECT_DOUBLE_EQ(idle->of_others.value, 0);
  EXPECT_FALSE(slowest_replica(on_gpus(1, 300, {})));
  EXPECT_FALSE(slowest_replica(on_gpus(2, 300, {0, 0})));
}

TEST(SharedWork, EfficiencyIsThroughputPerDeviceOverThatOfTheFewest) {
  auto one = on_gpus(1, 100, {}), two = on_gpus(2, 190, {50, 50}), four = on_gpus(4, 320, {4, 4, 4, 4});
  std::vector<CaseResult*> all{&four, &one, &two};
  compare_replicas(all);
  EXPECT_FALSE(one.scaling);
  ASSERT_TRUE(two.scaling && four.scaling);
  EXPECT_EQ(two.scaling->base_case_id, one.case_id);
  EXPECT_DOUBLE_EQ(*two.scaling->efficiency, 0.95);
  EXPECT_DOUBLE_EQ(*two.scaling->speedup, 1.9);
  EXPECT_EQ(scaling_doubt(two), "");
  EXPECT_LE(*two.scaling->ci_low, 0.95);
  EXPECT_GE(*two.scaling->ci_high, 0.95);
  EXPECT_DOUBLE_EQ(*four.scaling->efficiency, 0.8);
  EXPECT_EQ(four.scaling->world, 4);
  two.repetitions.resize(5);
  compare_replicas(all);
  EXPECT_EQ(scaling_doubt(two), "fewer than six pairs of processes");
  EXPECT_DOUBLE_EQ(*two.scaling->efficiency, 0.95);
}

TEST(SharedWork, OnlyCasesWithTheSameWorkForEachAreCompared) {
  const auto compared = [](CaseResult base, CaseResult one) {
    compare_replicas({&base, &one});
    return one.scaling.has_value();
  };
  const auto one = on_gpus(1, 100, {}), two = on_gpus(2, 190, {50, 50});
  EXPECT_TRUE(compared(one, two));
  auto other = two;
  other.benchmark.threads = 1;
  EXPECT_FALSE(compared(one, other));
  other = two;
  other.benchmark.gpus.reset(), other.benchmark.instances = 2;
  EXPECT_FALSE(compared(one, other));
  other = two;
  other.outcome = Outcome::kFailed;
  EXPECT_FALSE(compared(one, other));
  auto process = on_gpus(1, 100, {}), processes = two;
  for (auto* on_cpu : {&process, &processes}) {
    on_cpu->benchmark.device.clear();
    on_cpu->benchmark.instances = std::exchange(on_cpu->benchmark.gpus, std::nullopt);
  }
  EXPECT_TRUE(compared(process, processes));
}

}  // namespace
}  // namespace paceline::result
