// SPDX-License-Identifier: MIT
#include "host/noise/rank_counters.h"

#include <unistd.h>

#include <string>

#include "host/machine/affinity.h"
#include "host/machine/cgroup.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

// One rank on two CPUs of 100 ticks per second.
RankCounters counters_at(double seconds, std::int64_t busy, std::int64_t steal, double ranks_cpu_s) {
  RankCounters c;
  const auto wall = static_cast<std::int64_t>(seconds * 1e9);
  c.cpu_numbers = {2, 3};
  c.own.cpu.wall_ns = c.cpus.wall_ns = wall;
  c.own.cpu.own_cpu_ns = c.cpus.own_cpu_ns = static_cast<std::int64_t>(ranks_cpu_s * 1e9);
  c.cpus.ticks = CpuTicks{busy, steal, static_cast<std::int64_t>(seconds * 200), 2};
  c.own.threads[1] = {.run_ns = 1};
  c.throttled_ns = 0;
  return c;
}

TEST(RankCounters, AreTurnedIntoFiguresPerStep) {
  auto before = counters_at(0, 0, 0, 0), after = counters_at(10, 1500, 300, 9);
  after.own.threads[1].wait_ns = 2'000'000'000;
  after.system_ns = 1'000'000'000, after.minor_faults = 5000, after.major_faults = 100;
  after.throttled_ns = 4e9;
  const GpuState hot{1400, std::string("thermal slowdown")}, cool{1700, std::string()};
  const ClockSamples clocks{{1900, 2000, 2100}, {hot, cool, hot, hot}};
  const auto e = evidence_between(before, after, 100, clocks);
  EXPECT_NEAR(*e.runq_wait_ns, 20e6, 1);
  EXPECT_NEAR(*e.cpu_ns, 90e6, 1);
  EXPECT_NEAR(*e.system_ns, 10e6, 1);
  EXPECT_NEAR(*e.minor_faults, 50, 1e-9);
  EXPECT_NEAR(*e.major_faults, 1, 1e-9);
  EXPECT_NEAR(*e.throttled_ns, 40e6, 1);
  EXPECT_NEAR(*e.steal_frac, 300.0 / 1800, 1e-9);
  EXPECT_NEAR(*e.foreign_frac, (1500.0 - 900) / 2000, 1e-9);
  EXPECT_NEAR(*e.core_mhz, 2000, 1e-9);
  EXPECT_NEAR(*e.device_mhz, 1475, 1e-9);
  ASSERT_EQ(e.device_slowdowns.size(), 1U);
  EXPECT_EQ(e.device_slowdowns[0].reason, "thermal slowdown");
  EXPECT_DOUBLE_EQ(e.device_slowdowns[0].share, 0.75);
}

TEST(RankCounters, NameEveryReasonThatSlowedTheGpuDown) {
  const GpuState hot{1400.0, std::string("thermal slowdown")}, capped{1700.0, std::string("power cap")};
  const auto e = evidence_between(counters_at(0, 0, 0, 0), counters_at(1, 1, 0, 0), 1,
                                  {{}, {capped, hot, capped, capped}});
  EXPECT_EQ(result::slowdown_text(e.device_slowdowns),
            "power cap in 75.0 % of the samples, thermal slowdown in 25.0 % of the samples");
}

TEST(RankCounters, NameTheProcessThatUsedMostOfTheseCpus) {
  auto before = counters_at(0, 0, 0, 0), after = counters_at(10, 1500, 0, 9);
  before.others[50] = {"old", 900, 2}, after.others[50] = {"old", 910, 2};
  after.others[51] = {"elsewhere", 2000, 7};
  after.others[52] = {"compiler", 400, 3};
  EXPECT_EQ(evidence_between(before, after, 1, {}).foreign_process, "compiler (pid 52)");
  after.others.erase(52);
  EXPECT_EQ(evidence_between(before, after, 1, {}).foreign_process, "") << "0.5 % is not worth a name";
}

TEST(RankCounters, UnknownCountersAreMissing) {
  auto before = counters_at(0, 0, 0, 0), after = counters_at(0.05, 5, 0, 0);
  after.throttled_ns = Number::missing("no cgroup");
  const ClockSamples two{{2000, 2000}, {}, "the rank computes on CPUs"};
  const auto e = evidence_between(before, after, 3, two);
  EXPECT_EQ(e.steal_frac.reason(), "window too short");
  EXPECT_EQ(e.throttled_ns.reason(), "no cgroup");
  EXPECT_EQ(e.core_mhz.reason(), "too few samples of the clock");
  EXPECT_EQ(e.device_mhz.reason(), "the rank computes on CPUs");
  EXPECT_FALSE(evidence_between(before, after, 0, two).cpu_ns);
}

TEST(RankCounters, ReadTheirOwnCpusAndOtherProcesses) {
  FakeTree tree;
  std::string stat = "cpu  0 0 0 0 0 0 0 0\n";
  for (const int cpu : current_affinity()) stat += "cpu" + std::to_string(cpu) + " 10 0 5 100 0 0 0 7\n";
  tree.file("proc/stat", stat);
  const std::string fields =
      " S 1 1 1 0 -1 4194304 0 0 0 0 30 12 0 0 20 0 1 0 5 1000 1 0 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0 0";
  tree.file("proc/4711/stat", "4711 (a (b) c)" + fields);
  tree.file("proc/4712/stat", "4712 (a rank)" + fields);
  tree.file("proc/4713/stat", "4713 (cut");
  tree.file("proc/" + std::to_string(::getpid()) + "/stat", "1 (self)" + fields);
  const auto c = take_rank_counters({4712}, tree.files());
  const auto cpus = static_cast<std::int64_t>(current_affinity().size());
  ASSERT_TRUE(c.cpus.ticks);
  EXPECT_EQ(c.cpus.ticks->busy, 15 * cpus);
  EXPECT_EQ(c.cpus.ticks->steal, 7 * cpus);
  ASSERT_EQ(c.others.size(), 1U);
  EXPECT_EQ(c.others.at(4711).name, "a (b) c");
  EXPECT_EQ(c.others.at(4711).ticks, 42);
  EXPECT_EQ(c.others.at(4711).cpu, 3);
}

TEST(RankCounters, TheClockIsTheMeanOfTheCpus) {
  FakeTree tree;
  tree.file("sys/devices/system/cpu/cpu4/cpufreq/scaling_cur_freq", "1800000\n");
  tree.file("sys/devices/system/cpu/cpu5/cpufreq/scaling_cur_freq", "2200000\n");
  EXPECT_NEAR(*mean_mhz({4, 5}, tree.files()), 2000, 1e-9);
  EXPECT_EQ(mean_mhz({4, 6}, tree.files()).reason(), "no cpufreq");
}

}  // namespace
}  // namespace paceline::host
