// SPDX-License-Identifier: MIT
#include "result/stored/device_state.h"

#include <gtest/gtest.h>

#include "result/figures/device_figures.h"
#include "result/metric_table.h"
#include "result/stored/result_json.h"

namespace paceline::result {
namespace {

SampledWindow watched(std::int64_t repetition, std::vector<double> clocks, std::vector<std::string> slowed,
                      std::vector<double> joules) {
  SampledWindow window;
  window.sampler = "nvml", window.repetition = repetition, window.window_s = 2;
  std::vector<double> times;
  for (std::size_t i = 0; i < clocks.size(); ++i)
    times.push_back(2 * static_cast<double>(i) / static_cast<double>(clocks.size() - 1));
  const auto add = [&](const char* metric, const char* unit, std::vector<double> numbers) {
    window.series.push_back({"cuda:0", metric, unit, times, std::move(numbers), {}});
  };
  add("power", "W", std::vector<double>(clocks.size(), 500.0 + 100 * static_cast<double>(repetition)));
  add("temperature", "°C", std::vector<double>(clocks.size(), 60));
  add("memory_used", "B", std::vector<double>(clocks.size(), 12e9));
  add("other_processes", "", std::vector<double>(clocks.size(), 0));
  add("utilization", "%", std::vector<double>(clocks.size(), 98));
  add("sm_clock", "MHz", std::move(clocks));
  if (!joules.empty()) add("energy", "J", std::move(joules));
  window.series.push_back({"cuda:0", "slowdown", "", times, {}, std::move(slowed)});
  return window;
}

Number ten_items(const SampledWindow&) {
  return 10.0;
}

TEST(DeviceState, SumsUpAllWindowsOfADevice) {
  const auto states =
      summarize_devices({watched(0, {1900, 1700}, {"none", "power cap"}, {1000, 1600}),
                         watched(1, {1800, 1600}, {"thermal slowdown, power cap", "none"}, {2000, 3000})},
                        ten_items, {});
  ASSERT_EQ(states.size(), 1U);
  const auto& one = states[0];
  EXPECT_EQ(one.device, "cuda:0");
  EXPECT_EQ(one.readings, 4);
  EXPECT_EQ(one.sm_clock_mean_mhz, Number(1750));
  EXPECT_EQ(one.sm_clock_min_mhz, Number(1600));
  EXPECT_NEAR(*one.sm_clock_cv, 129.099 / 1750, 1e-5);
  EXPECT_EQ(one.power_mean_w, Number(550));
  EXPECT_EQ(one.power_max_w, Number(600));
  EXPECT_EQ(one.temperature_max_c, Number(60));
  EXPECT_EQ(one.memory_used_max_bytes, Count(12'000'000'000));
  EXPECT_EQ(one.other_processes, Count(0));
  EXPECT_EQ(one.utilization_mean, Number(0.98));
  EXPECT_FALSE(one.memory_clock_mean_mhz);
  EXPECT_EQ(one.memory_clock_mean_mhz.reason(), "the device has no such reading");
  EXPECT_EQ(power_cap_share(one), Number(0.5));
  EXPECT_EQ(slowdown_share(one), Number(0.25));
  EXPECT_EQ(one.energy_j, Number(1600));
  EXPECT_EQ(one.energy_window_s, Number(4));
  EXPECT_EQ(one.energy_per_item_j, Number(80));
  EXPECT_EQ(one.energy_scope, "GPU board, whole window");
}

TEST(DeviceState, TheEndsOfAWindowSayNothingOfClockAndPower) {
  auto window = watched(0, {300, 1900, 1900, 300}, {"none", "power cap", "power cap", "none"}, {0, 1, 2, 40});
  window.series[0].numbers = {150, 500, 600, 200};
  const auto one = summarize_devices({window}, ten_items, {}).at(0);
  EXPECT_EQ(one.readings, 2);
  EXPECT_EQ(one.sm_clock_mean_mhz, Number(1900));
  EXPECT_EQ(one.sm_clock_min_mhz, Number(1900));
  EXPECT_EQ(one.power_mean_w, Number(550));
  EXPECT_EQ(power_cap_share(one), Number(1));
  EXPECT_EQ(one.energy_j, Number(40));
}

TEST(DeviceState, IdleBeforeTheRunIsTakenOff) {
  auto idle = watched(-1, {300, 300}, {"none", "none"}, {});
  idle.series[0].numbers = {70, 80};
  const auto one =
      summarize_devices({watched(0, {1900, 1900}, {"none", "none"}, {0, 400})}, ten_items, {idle}).at(0);
  EXPECT_EQ(one.idle_power_w, Number(75));
  EXPECT_EQ(one.energy_per_item_j, Number(40));
  EXPECT_EQ(one.energy_above_idle_per_item_j, Number(25));
  SampledWindow hidden;
  hidden.sampler = kDeviceSampler, hidden.problem = "the case sets CUDA_VISIBLE_DEVICES";
  EXPECT_EQ(summarize_devices({watched(0, {1900, 1900}, {"none", "none"}, {0, 400})}, ten_items, {hidden})
                .at(0)
                .idle_power_w.reason(),
            "the case sets CUDA_VISIBLE_DEVICES");
  auto far = watched(0, {1900, 1900}, {"none", "none"}, {0, 400});
  far.rank = 8;  // on another host, whose idle power was not read
  EXPECT_EQ(summarize_devices({far}, ten_items, {idle}).at(0).idle_power_w.reason(),
            "it was not read before the run");
}

TEST(DeviceState, NoCounterNoNumber) {
  const auto energy = [](std::vector<double> joules) {
    return summarize_devices({watched(0, {1900, 1900, 1900}, {"none", "none", "none"}, std::move(joules))},
                             ten_items, {})
        .at(0)
        .energy_per_item_j;
  };
  EXPECT_EQ(energy({}).reason(), "the device has no energy counter");
  EXPECT_EQ(energy({5, 7, 3}).reason(), "the energy counter went back");
  EXPECT_EQ(energy({5, 5, 5}).reason(), "the energy counter did not move");
  EXPECT_EQ(energy({5, 6, 25}), Number(2));
  auto cut = watched(0, {1900, 1900}, {"none", "none"}, {5, 25});
  cut.window_s = 3;  // the sampler ended before the window did
  EXPECT_EQ(summarize_devices({cut}, ten_items, {}).at(0).energy_per_item_j.reason(),
            "the energy counter was not read over the whole window");
  const auto unknown = [](const SampledWindow&) {
    return Number::missing("the window holds a sweep of sizes");
  };
  const auto sweep =
      summarize_devices({watched(0, {1900, 1900}, {"none", "none"}, {5, 25})}, unknown, {}).at(0);
  EXPECT_EQ(sweep.energy_j, Number(20));
  EXPECT_EQ(sweep.energy_per_item_j.reason(), "the window holds a sweep of sizes");
}

// The driver's figure at the ends is that of the time before, in which nothing ran.
TEST(DeviceState, UtilizationIsThatOfTheTimeWithin) {
  auto window = watched(0, {1900, 1900, 1900, 1900}, {"none", "none", "none", "none"}, {});
  for (auto& series : window.series)
    if (series.metric == "utilization") series.numbers = {12, 99, 97, 50};
  EXPECT_EQ(summarize_devices({window}, ten_items, {}).at(0).utilization_mean, Number(0.98));
}

TEST(DeviceState, OtherSamplersAndTheHostAreNoDevices) {
  auto other = watched(0, {1900}, {"none"}, {});
  other.sampler = "meter";
  auto host = watched(0, {1900}, {"none"}, {});
  for (auto& series : host.series) series.device = "cpu";
  EXPECT_TRUE(summarize_devices({other, host}, ten_items, {}).empty());
}

TEST(DeviceState, ItemsAreThoseOfTheWindowsRepetition) {
  CaseResult one;
  std::vector<Sample> samples(3);
  samples[2].repetition = 1;
  const auto window = watched(0, {1900}, {"none"}, {});
  EXPECT_EQ(items_in_window(one, samples, 32, window), Number(64));
  samples[0].flags = kSampleBatched;
  one.throughput.per_s.value = 1000.0;
  EXPECT_EQ(items_in_window(one, samples, 32, window), Number(2000));
  for (std::size_t i = 0; i < 2; ++i) {  // blocks of 16, and a little between them
    samples[i].flags = kSamplePipelined;
    samples[i].start_ns = static_cast<std::int64_t>(i) * 64'700'000, samples[i].host_ns = 4'000'000;
  }
  EXPECT_EQ(items_in_window(one, samples, 32, window), Number(2 * 16 * 32));
  samples[1].repetition = 1;  // one block does not show how many inferences it has
  EXPECT_EQ(items_in_window(one, samples, 32, window), Number(2000));
  one.benchmark.kind = WorkloadKind::kCollective;
  EXPECT_FALSE(items_in_window(one, samples, 1, window));
}

CaseResult watched_case() {
  CaseResult one;
  one.benchmark.device = "cuda:0";
  one.devices = summarize_devices({watched(0, {1900, 1900}, {"none", "power cap"}, {0, 40})}, ten_items, {});
  return one;
}

TEST(DeviceState, IsStoredAndReadBack) {
  const auto back = case_from_json(to_json(watched_case()), "a test").devices.at(0);
  EXPECT_EQ(back.power_max_w, Number(500));
  EXPECT_EQ(back.slowdowns.at(0).reason, "power cap");
  EXPECT_EQ(back.energy_scope, kBoardEnergy);
  EXPECT_EQ(back.memory_clock_mean_mhz.reason(), "the device has no such reading");
}

TEST(DeviceState, MetricsAreOverAllDevices) {
  auto one = watched_case();
  one.devices.push_back(one.devices[0]);
  one.devices[1].sm_clock_mean_mhz = 1500.0, one.devices[1].slowdowns.clear();
  const auto value = [&](const char* name) { return find_metric(name)->get(one).value; };
  EXPECT_EQ(value("sm_clock_mhz"), 1500);
  EXPECT_EQ(value("power_w"), 1000);
  EXPECT_EQ(value("power_max_w"), 500);
  EXPECT_FALSE(value("energy_per_item_j"));  // of 2 s
  for (auto& device : one.devices) device.energy_window_s = 20.0;
  EXPECT_EQ(value("energy_per_item_j"), 8);
  EXPECT_EQ(value("power_cap_share"), 0.5);
  EXPECT_EQ(value("slowdown_share"), 0);
  EXPECT_EQ(value("memory_mb"), 12000);  // the engine does not tell
  one.memory.tensor_peak_bytes = 500'000'000;
  EXPECT_EQ(value("memory_mb"), 500);
  EXPECT_EQ(find_metric("power_w")->get(CaseResult()).reason, "no sampler read a device");
}

}  // namespace
}  // namespace paceline::result
