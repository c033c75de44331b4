// SPDX-License-Identifier: MIT
#include "host/noise/noise.h"

#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Two CPUs over `seconds`: 100 ticks a second each.
CpuUse use_at(double seconds, std::int64_t busy, std::int64_t steal, double own_s) {
  const auto all = static_cast<std::int64_t>(seconds * 200);
  return {static_cast<std::int64_t>(seconds * kSecond), static_cast<std::int64_t>(own_s * kSecond),
          10'000'000, CpuTicks{busy, steal, all, 2}};
}

NoiseSnapshot snapshot_at(double seconds) {
  NoiseSnapshot snapshot;
  snapshot.cpu = use_at(seconds, 0, 0, 0);
  snapshot.threads[1] = {.run_ns = 1};
  snapshot.psi_cpu_some_us = 0;
  snapshot.throttled_periods = 0;
  snapshot.core_mhz = 2000.0;
  return snapshot;
}

TEST(CpuTicks, CountsBusyStealAndAllWithoutGuestTwice) {
  FakeTree tree;
  tree.file("proc/stat", "cpu  100 20 30 1000 50 6 7 8 90 10\ncpu0 1 2 3 4\ncpu1 1 2 3 4\nintr 5\n");
  const auto ticks = read_cpu_ticks(tree.files());
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 163);
  EXPECT_EQ(ticks->steal, 8);
  EXPECT_EQ(ticks->all, 1221);
  EXPECT_EQ(ticks->cpus, 2);
}

TEST(CpuTicks, MalformedContentIsNothing) {
  for (const char* bad : {"", "cpu\n", "cpu 1 2\n", "cpu a b c d\n", "cpu 1 2 -3 4\n", "cpu0 1 2 3 4\n"}) {
    FakeTree tree;
    tree.file("proc/stat", bad);
    EXPECT_FALSE(read_cpu_ticks(tree.files())) << bad;
  }
}

TEST(ForeignCpu, IsBusyMinusOwnOverAll) {
  // 2 s on two CPUs are 400 ticks; 160 were busy, 1.0 s (100 ticks) of that ours: 60 are foreign.
  const CpuUse before = use_at(0, 0, 0, 5.0), after = use_at(2, 160, 8, 6.0);
  EXPECT_NEAR(*foreign_cpu_frac(before, after), 0.15, 1e-12);
  EXPECT_NEAR(*foreign_cores(before, after), 0.3, 1e-12);
  EXPECT_NEAR(*steal_frac(before, after), 0.02, 1e-12);
}

TEST(ForeignCpu, TickRoundingNeverGivesNegativeShares) {
  EXPECT_EQ(*foreign_cpu_frac(use_at(0, 0, 0, 0), use_at(1, 50, 0, 0.53)), 0.0);
}

TEST(ForeignCpu, ShortOrUnreadableWindowsAreMissing) {
  EXPECT_EQ(foreign_cpu_frac(use_at(0, 0, 0, 0), use_at(0.05, 5, 0, 0)).reason(), "window too short");
  CpuUse unreadable;
  EXPECT_EQ(foreign_cores(unreadable, unreadable).reason(), "/proc/stat is not readable");
}

TEST(Noise, UsesTheWorstThreadAndCountsNewOnesFromZero) {
  NoiseSnapshot a = snapshot_at(0), b = snapshot_at(2);
  a.threads[1] = {100, 50'000'000, 10};
  b.threads[1] = {200, 60'000'000, 50};         // waited 10 ms, 40 switches
  b.threads[2] = {600'000'000, 30'000'000, 7};  // born in the window: waited 30 ms
  a.threads[3] = {100, 0, 0};                   // gone at the end
  const auto noise = noise_between(a, b);
  EXPECT_NEAR(*noise.running_frac, 0.3, 1e-12);
  EXPECT_NEAR(*noise.runq_wait_frac, 0.015, 1e-12);
  EXPECT_NEAR(*noise.nivcsw_per_s, 20, 1e-12);
}

TEST(Noise, NoShareExceedsItsWindow) {
  NoiseSnapshot a = snapshot_at(0), b = snapshot_at(20);
  b.threads[1] = {100, 21'000'000'000, 0};
  b.psi_cpu_some_us = 21'000'000;
  EXPECT_EQ(*noise_between(a, b).runq_wait_frac, 1.0);
  EXPECT_EQ(*noise_between(a, b).psi_cpu_some, 1.0);
}

TEST(Noise, PressureOfAShortWindowIsMissing) {
  NoiseSnapshot a = snapshot_at(0), b = snapshot_at(9.9);
  b.psi_cpu_some_us = 2'000'000;
  EXPECT_EQ(noise_between(a, b).psi_cpu_some.reason(), "window too short: the kernel counts every 2 s");
}

TEST(Noise, PressureAndThrottlingAreDeltas) {
  NoiseSnapshot a = snapshot_at(0), b = snapshot_at(20);
  a.psi_cpu_some_us = 1'000'000;
  b.psi_cpu_some_us = 3'000'000;
  a.throttled_periods = 4;
  b.throttled_periods = 7;
  const auto noise = noise_between(a, b);
  EXPECT_NEAR(*noise.psi_cpu_some, 0.1, 1e-12);
  EXPECT_EQ(*noise.cgroup_throttled, 3);
}

TEST(Noise, FrequencyVariesOverAllSnapshots) {
  std::vector<NoiseSnapshot> snapshots{snapshot_at(0), snapshot_at(1), snapshot_at(2)};
  EXPECT_EQ(*noise_over(snapshots).freq_cv, 0.0);
  snapshots[1].core_mhz = 2600.0;  // mean 2200, sample deviation 346.41
  EXPECT_NEAR(*noise_over(snapshots).freq_cv, 0.157459, 1e-6);
  snapshots[2].core_mhz = Number::missing("no cpufreq");
  EXPECT_EQ(noise_over(snapshots).freq_cv.reason(), "no cpufreq");
}

TEST(Noise, UnreadableCountersAreMissingNeverZero) {
  NoiseSnapshot a, b;
  b.cpu.wall_ns = kSecond;
  const auto noise = noise_between(a, b);
  EXPECT_FALSE(noise.running_frac);
  EXPECT_FALSE(noise.runq_wait_frac);
  EXPECT_FALSE(noise.nivcsw_per_s);
  EXPECT_FALSE(noise.steal_frac);
  EXPECT_FALSE(noise.psi_cpu_some);
  EXPECT_FALSE(noise.foreign_cpu_frac);
  EXPECT_FALSE(noise.freq_cv);
  EXPECT_FALSE(noise.cgroup_throttled);
}

TEST(Noise, KernelWithoutScheduleCountersIsMissing) {
  NoiseSnapshot a = snapshot_at(0), b = snapshot_at(2);
  a.threads[1] = b.threads[1] = {0, 0, 3};
  b.cpu.own_cpu_ns = kSecond;
  EXPECT_EQ(noise_between(a, b).runq_wait_frac.reason(), "the kernel counts no run-queue waits");
  EXPECT_EQ(*noise_between(a, b).nivcsw_per_s, 0);
}

TEST(Noise, OneSnapshotIsNoWindow) {
  const auto noise = noise_over(std::vector<NoiseSnapshot>{snapshot_at(1)});
  EXPECT_EQ(noise.steal_frac.reason(), "no window was measured");
  EXPECT_EQ(noise.cgroup_throttled.reason(), "no window was measured");
}

TEST(Noise, SnapshotReadsThreadsPressureAndClock) {
  FakeTree tree;
  tree.file("proc/self/task/12/schedstat", "500 40 3\n");
  tree.file("proc/self/task/12/status", "voluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t4\n");
  tree.file("proc/self/task/13/schedstat", "rubbish\n").file("proc/self/task/13/status", "x\n");
  tree.file("proc/pressure/cpu",
            "some avg10=0.01 avg60=0.18 avg300=0.28 total=9120586\nfull avg10=0 total=7\n");
  tree.file("sys/devices/system/cpu/online", "0-1\n");
  tree.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1200000\n");
  tree.file("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3400000\n");
  const auto snapshot = take_snapshot(tree.files());
  ASSERT_EQ(snapshot.threads.size(), 1U);
  EXPECT_EQ(snapshot.threads.at(12).run_ns, 500);
  EXPECT_EQ(snapshot.threads.at(12).wait_ns, 40);
  EXPECT_EQ(snapshot.threads.at(12).involuntary_switches, 4);
  EXPECT_EQ(*snapshot.psi_cpu_some_us, 9120586);
  EXPECT_EQ(*snapshot.core_mhz, 3400.0);
  EXPECT_FALSE(snapshot.cpu.ticks);
  EXPECT_FALSE(snapshot.throttled_periods);
}

TEST(Noise, OwnGroupsPressureIsPreferred) {
  FakeTree tree;
  tree.file("proc/pressure/cpu", "some avg10=0 avg60=0 avg300=0 total=100\n");
  tree.file("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.file("proc/self/cgroup", "0::/app\n");
  tree.file("sys/fs/cgroup/app/cpu.pressure", "some avg10=0 avg60=0 avg300=0 total=42\n");
  EXPECT_EQ(*take_snapshot(tree.files()).psi_cpu_some_us, 42);
}

}  // namespace
}  // namespace paceline::host
