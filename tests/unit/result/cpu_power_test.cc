// SPDX-License-Identifier: MIT
#include "result/stored/cpu_power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "result/metric_table.h"
#include "result/stored/device_state.h"

namespace paceline::result {
namespace {

using ::testing::HasSubstr;

// Read at these times, and by each zone what its counter showed.
SampledWindow counted(std::vector<double> times_s, std::map<std::string, std::vector<double>> joules) {
  SampledWindow window;
  window.sampler = kCpuSampler, window.window_s = times_s.back();
  for (auto& [zone, values] : joules)
    window.series.push_back({zone, "energy", "J", times_s, std::move(values), {}});
  return window;
}

Number ten(const SampledWindow&) {
  return 10.0;
}

TEST(CpuPower, PackagesAddUpAndMemoryStandsAlone) {
  const auto window = counted({0, 4, 8, 12}, {{"package-0", {100, 500, 900, 1300}},
                                              {"package-1", {0, 400, 1600, 2000}},
                                              {"dram package-0", {5, 6, 7, 65}}});
  const auto idle =
      counted({0, 0.5}, {{"package-0", {10, 30}}, {"package-1", {1, 11}}, {"dram package-0", {0, 1}}});
  const auto all = summarize_cpu_power({window, window}, ten, {idle});
  ASSERT_EQ(all.size(), 2U);
  const auto& cpu = all[0];
  EXPECT_EQ(cpu.part, "package");
  EXPECT_EQ(cpu.scope, "packages 0+1 of the whole machine, not this process alone");
  EXPECT_EQ(cpu.energy_j, Number(6400));
  EXPECT_EQ(cpu.energy_window_s, Number(24));
  EXPECT_DOUBLE_EQ(*cpu.power_mean_w, 6400.0 / 24);
  EXPECT_EQ(cpu.power_max_w, Number(400));  // from 4 to 8 s
  EXPECT_EQ(cpu.energy_per_item_j, Number(320));
  EXPECT_EQ(cpu.idle_power_w, Number(60));
  EXPECT_EQ(cpu.energy_above_idle_per_item_j, Number((6400.0 - 60 * 24) / 20));
  EXPECT_EQ(all[1].part, "dram");
  EXPECT_EQ(all[1].scope, "memory of package 0 of the whole machine, not this process alone");
  EXPECT_EQ(all[1].energy_j, Number(120));
}

TEST(CpuPower, ASocketIsNoGpu) {
  const auto window = counted({0, 12}, {{"package-0", {0, 10}}});
  EXPECT_TRUE(summarize_devices({window}, ten, {}).empty());
  auto nvml = window;
  nvml.sampler = kDeviceSampler;
  EXPECT_TRUE(summarize_cpu_power({nvml}, ten, {}).empty());
}

TEST(CpuPower, UnreadPackagesHaveTheirReason) {
  const auto idle_unknown = summarize_cpu_power({counted({0, 12}, {{"package-0", {0, 10}}})}, ten, {}).at(0);
  EXPECT_EQ(idle_unknown.energy_per_item_j, Number(1));
  EXPECT_EQ(idle_unknown.energy_above_idle_per_item_j.reason(), "it was not read before the run");
  const auto still = summarize_cpu_power({counted({0, 12}, {{"package-0", {7, 7}}})}, ten, {}).at(0);
  EXPECT_EQ(still.power_mean_w.reason(), "the energy counter did not move");
  auto uneven = counted({0, 6, 12}, {{"package-0", {0, 5, 10}}, {"package-1", {0, 5, 10}}});
  uneven.series[1].times_s.pop_back(), uneven.series[1].numbers.pop_back();
  const auto half = summarize_cpu_power({uneven}, ten, {}).at(0);
  EXPECT_EQ(half.energy_j.reason(), "the energy counter has gaps");
  const auto busy = counted({0, 0.5}, {{"package-0", {0, 100}}});
  const auto less = summarize_cpu_power({counted({0, 12}, {{"package-0", {0, 10}}})}, ten, {busy}).at(0);
  EXPECT_EQ(less.energy_above_idle_per_item_j.reason(), "less was drawn than before the run");
}

// Or the figures of a case would be those of some of its hosts.
TEST(CpuPower, AHostThatWasNotReadHasAnEntryAndNoNumber) {
  SampledWindow refused;
  refused.sampler = kCpuSampler, refused.rank = 4, refused.problem = "only root may read it";
  CaseResult one;
  one.cpu_power = summarize_cpu_power({counted({0, 12}, {{"package-0", {0, 120}}}), refused}, ten, {});
  ASSERT_EQ(one.cpu_power.size(), 2U);
  EXPECT_EQ(one.cpu_power[1].rank, 4);
  EXPECT_EQ(one.cpu_power[1].part, kCpuPackages);
  EXPECT_EQ(one.cpu_power[1].power_mean_w.reason(), "only root may read it");
  EXPECT_EQ(one.cpu_power[1].energy_per_item_j.reason(), "only root may read it");
  for (const auto* name : {"cpu_power_w", "cpu_power_max_w", "cpu_energy_per_item_j"}) {
    EXPECT_FALSE(find_metric(name)->get(one).value) << name;
    EXPECT_EQ(find_metric(name)->get(one).reason, "only root may read it") << name;
  }
}

TEST(CpuPower, AHostWithoutWindowsLeavesTheCaseWithoutAFigure) {
  CaseResult one;
  one.cpu_power = summarize_cpu_power(
      {counted({0, 12}, {{"package-0", {0, 120}}, {"dram package-0", {0, 12}}})}, ten, {});
  auto& ranks = one.payload.emplace<Training>().ranks;
  ranks.resize(2);
  ranks[0].host = ranks[1].host = "a";
  EXPECT_EQ(find_metric("cpu_power_w")->get(one).value, 10);
  ranks[1].host = "b";
  for (const auto* name : {"cpu_power_w", "cpu_energy_per_item_j", "dram_energy_per_item_j"}) {
    EXPECT_FALSE(find_metric(name)->get(one).value) << name;
    EXPECT_EQ(find_metric(name)->get(one).reason, "it was read on 1 of the 2 hosts of the case") << name;
  }
}

TEST(CpuPower, TheLastIntervalCountsOnlyWhereItIsNotTooShort) {
  const auto one =
      summarize_cpu_power({counted({0, 1, 2, 2.01}, {{"package-0", {0, 10, 20, 21}}})}, ten, {}).at(0);
  EXPECT_EQ(one.power_max_w, Number(10));
}

// One rule for the terminal, CSV and gates.
TEST(CpuPower, EnergyOfShortWindowsIsNoMetric) {
  CaseResult one;
  const auto metric = [&](const char* name) { return find_metric(name)->get(one); };
  EXPECT_THAT(metric("cpu_power_w").reason, HasSubstr("`paceline validate` says"));
  one.cpu_power = summarize_cpu_power({counted({0, 9}, {{"package-0", {0, 90}}})}, ten, {});
  EXPECT_TRUE(is_brief(one.cpu_power[0].energy_window_s));
  EXPECT_EQ(metric("cpu_power_w").value, 10);
  EXPECT_FALSE(metric("cpu_energy_per_item_j").value);
  EXPECT_EQ(metric("cpu_energy_per_item_j").reason, "its windows lasted 9 s together, and energy takes 10 s");
  one.cpu_power = summarize_cpu_power({counted({0, 10}, {{"package-0", {0, 90}}})}, ten, {});
  EXPECT_FALSE(is_brief(one.cpu_power[0].energy_window_s));
  EXPECT_EQ(metric("cpu_energy_per_item_j").value, 9);
  auto& gpu = one.devices.emplace_back();
  gpu.energy_per_item_j = 3.0, gpu.energy_above_idle_per_item_j = 2.0, gpu.energy_window_s = 9.0;
  EXPECT_FALSE(metric("energy_per_item_j").value);
  EXPECT_FALSE(metric("energy_above_idle_j").value);
  gpu.energy_window_s = 10.0;
  EXPECT_EQ(metric("energy_per_item_j").value, 3);
  EXPECT_EQ(metric("energy_above_idle_j").value, 2);
}

}  // namespace
}  // namespace paceline::result
