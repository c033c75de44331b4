// SPDX-License-Identifier: MIT
#include "host/machine/cgroup.h"

#include "host/machine/memory.h"
#include "host/machine/oom.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

constexpr const char* kV2Mount =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

// cgroup v1 controllers beside an empty v2 tree, as on machines with the hybrid layout.
FakeTree& hybrid(FakeTree& tree) {
  tree.file("proc/self/mountinfo",
            "23 1 0:20 / /proc rw - proc proc rw\n"
            "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
            "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
            "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
            "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
  tree.file("proc/self/cgroup",
            "9:name=systemd:/\n4:memory:/jobs/one\n2:cpu,cpuacct:/jobs/one\n0::/jobs/one\n");
  tree.file("sys/fs/cgroup/cpu,cpuacct/jobs/one/cpu.cfs_quota_us", "-1\n");
  tree.file("sys/fs/cgroup/cpu,cpuacct/jobs/one/cpu.cfs_period_us", "100000\n");
  tree.file("sys/fs/cgroup/cpu,cpuacct/jobs/one/cpu.stat",
            "nr_periods 10\nnr_throttled 2\nthrottled_time 5\n");
  tree.file("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "150000\n");
  tree.file("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
  tree.file("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 5\n");
  tree.file("sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes", "9223372036854771712\n");
  tree.file("sys/fs/cgroup/memory/jobs/one/memory.oom_control",
            "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  tree.file("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "2147483648\n");
  tree.folder("sys/fs/cgroup/unified/jobs/one");
  return tree;
}

FakeTree& v2(FakeTree& tree) {
  tree.file("proc/self/mountinfo", kV2Mount).file("proc/self/cgroup", "0::/user.slice/app.scope\n");
  tree.file("sys/fs/cgroup/user.slice/app.scope/cpu.max", "max 100000\n");
  tree.file("sys/fs/cgroup/user.slice/app.scope/memory.max", "1073741824\n");
  tree.file("sys/fs/cgroup/user.slice/app.scope/memory.events", "low 0\nhigh 0\nmax 3\noom 2\noom_kill 1\n");
  tree.file("sys/fs/cgroup/user.slice/app.scope/cpu.stat",
            "usage_usec 7\nnr_periods 1\nnr_throttled 6\nthrottled_usec 9\n");
  tree.file("sys/fs/cgroup/user.slice/cpu.max", "250000 100000\n");
  tree.file("sys/fs/cgroup/user.slice/memory.max", "max\n");
  tree.file("sys/fs/cgroup/cpu.stat", "usage_usec 7\n");
  return tree;
}

// Two processes of one program: pages of its files and libraries are there once.
TEST(MemoryTogether, CommonPagesCountOnce) {
  const std::vector<ProcessMemory> two{{1000, 5000, 300}, {800, 5000, 250}};
  EXPECT_EQ(*memory_together(two), 700 + 550 + 300) << "their peaks of 5000 were at other moments";
  const auto missing = Count::missing("gone");
  EXPECT_EQ(memory_together(std::vector<ProcessMemory>{{1000, 1, 2}, {missing, 1, 2}}).reason(), "gone");
}

TEST(Cgroup, HybridReadsEveryLevelUpwards) {
  FakeTree tree;
  const auto files = hybrid(tree).files();
  const Cgroups groups(files);
  EXPECT_EQ(groups.v1("cpu"),
            (std::vector<std::string>{"sys/fs/cgroup/cpu,cpuacct/jobs/one", "sys/fs/cgroup/cpu,cpuacct/jobs",
                                      "sys/fs/cgroup/cpu,cpuacct"}));
  EXPECT_EQ(groups.v2(), (std::vector<std::string>{"sys/fs/cgroup/unified/jobs/one",
                                                   "sys/fs/cgroup/unified/jobs", "sys/fs/cgroup/unified"}));
  EXPECT_TRUE(groups.v1("cpuset").empty());
  EXPECT_EQ(*cgroup_cpu_quota(files, groups), 1.5);
  EXPECT_EQ(*cgroup_memory_limit_bytes(files, groups), 2147483648);
  EXPECT_EQ(*cgroup_throttled_periods(files, groups), 5);
  EXPECT_EQ(*cgroup_throttled_ns(files, groups), 10);
  EXPECT_EQ(*cgroup_oom_kills(files, groups), 4);
}

TEST(Cgroup, V2TakesTheTightestLimitOnTheWayUp) {
  FakeTree tree;
  const auto files = v2(tree).files();
  const Cgroups groups(files);
  EXPECT_EQ(*cgroup_cpu_quota(files, groups), 2.5);
  EXPECT_EQ(*cgroup_memory_limit_bytes(files, groups), 1073741824);
  EXPECT_EQ(*cgroup_throttled_periods(files, groups), 6);
  EXPECT_EQ(*cgroup_throttled_ns(files, groups), 9000);
  EXPECT_EQ(*cgroup_oom_kills(files, groups), 1);
}

// Docker with v1: the path names the host's group, and only that group is mounted.
TEST(Cgroup, ContainerSeesItsGroupAtTheMountPoint) {
  FakeTree tree;
  tree.file("proc/self/mountinfo",
            "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro,relatime master:9 - cgroup cgroup rw,cpu\n");
  tree.file("proc/self/cgroup", "2:cpu:/docker/abc\n");
  tree.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  const auto files = tree.files();
  const Cgroups groups(files);
  EXPECT_EQ(groups.v1("cpu"), std::vector<std::string>{"sys/fs/cgroup/cpu"});
  EXPECT_EQ(*cgroup_cpu_quota(files, groups), 0.5);
}

TEST(Cgroup, GroupOutsideTheMountFallsBackToItsTop) {
  FakeTree tree;
  tree.file("proc/self/mountinfo", kV2Mount).file("proc/self/cgroup", "0::/../other/group\n");
  tree.file("sys/fs/cgroup/cpu.max", "300000 100000\n");
  const auto files = tree.files();
  EXPECT_EQ(*cgroup_cpu_quota(files, Cgroups(files)), 3.0);
}

TEST(Cgroup, BareMachineHasNoLimitsAndSaysSo) {
  const FakeTree tree;
  const auto files = tree.files();
  const Cgroups groups(files);
  EXPECT_EQ(cgroup_cpu_quota(files, groups), Number::missing("no limit"));
  EXPECT_EQ(cgroup_memory_limit_bytes(files, groups), Count::missing("no limit"));
  EXPECT_FALSE(cgroup_throttled_periods(files, groups));
  EXPECT_FALSE(cgroup_oom_kills(files, groups));
}

TEST(Cgroup, MalformedFilesAreNoLimits) {
  for (const char* bad : {"", "max\n", "0 100000\n", "100000 0\n", "-5 100000\n", "x y\n", "1 2 3\n"}) {
    FakeTree tree;
    tree.file("proc/self/mountinfo", std::string("rubbish\n- - -\n\n") + kV2Mount);
    tree.file("proc/self/cgroup", "no colons\n1:two\n:::\n0::/\n");
    tree.file("sys/fs/cgroup/cpu.max", bad).file("sys/fs/cgroup/memory.max", bad);
    const auto files = tree.files();
    EXPECT_FALSE(cgroup_cpu_quota(files, Cgroups(files))) << bad;
    EXPECT_FALSE(cgroup_memory_limit_bytes(files, Cgroups(files))) << bad;
  }
}

TEST(Oom, RiseOfTheCgroupCounterIsEvidence) {
  FakeTree tree;
  hybrid(tree).file("proc/vmstat", "nr_free_pages 5\noom_kill 9\n");
  const auto before = read_oom_counters(tree.files());
  EXPECT_EQ(*before.machine, 9);
  EXPECT_EQ(*before.cgroup, 4);
  EXPECT_FALSE(oom_evidence(before, before));
  tree.file("sys/fs/cgroup/memory/jobs/one/memory.oom_control", "oom_kill_disable 0\noom_kill 5\n");
  EXPECT_EQ(oom_evidence(before, read_oom_counters(tree.files())), "oom_kill of its memory cgroup rose by 1");
}

TEST(Oom, RiseOfTheMachineCounterIsEvidenceToo) {
  FakeTree tree;
  tree.file("proc/vmstat", "oom_kill 9\n");
  const auto before = read_oom_counters(tree.files());
  EXPECT_FALSE(before.cgroup);
  tree.file("proc/vmstat", "oom_kill 11\n");
  EXPECT_EQ(oom_evidence(before, read_oom_counters(tree.files())), "oom_kill in /proc/vmstat rose by 2");
}

TEST(Oom, AKillInAnotherCgroupIsNoEvidence) {
  FakeTree tree;
  hybrid(tree).file("proc/vmstat", "oom_kill 9\n");
  const auto before = read_oom_counters(tree.files());
  tree.file("proc/vmstat", "oom_kill 10\n");
  EXPECT_FALSE(oom_evidence(before, read_oom_counters(tree.files())));
}

// The host's tree in a container whose groups have a namespace of their own.
TEST(Oom, ACounterOfAnAncestorLeavesTheMachinesToDecide) {
  FakeTree tree;
  tree.file("proc/self/mountinfo",
            "35 31 0:32 /../.. /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n");
  tree.file("proc/self/cgroup", "4:memory:/\n").file("proc/vmstat", "oom_kill 9\n");
  tree.file("sys/fs/cgroup/memory/memory.oom_control", "oom_kill 0\n");
  const auto before = read_oom_counters(tree.files());
  EXPECT_FALSE(before.cgroup);
  tree.file("proc/vmstat", "oom_kill 10\n");
  EXPECT_TRUE(oom_evidence(before, read_oom_counters(tree.files())));
}

TEST(Oom, UnreadableCountersAreNoEvidence) {
  FakeTree tree;
  const auto before = read_oom_counters(tree.files());
  tree.file("proc/vmstat", "oom_kill 11\n");
  EXPECT_FALSE(oom_evidence(before, read_oom_counters(tree.files())));
}

TEST(Memory, ReadsTheMachineAndTheLimit) {
  FakeTree tree;
  hybrid(tree).file(
      "proc/meminfo",
      "MemTotal:       24684084 kB\nMemFree: 1 kB\nMemAvailable:   20000000 kB\nSwapTotal: 100 kB\n"
      "SwapFree: 40 kB\nHugePages_Total:       3\nHugePages_Free:        2\nHugepagesize:       2048 kB\n");
  tree.file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  const auto memory = read_memory(tree.files());
  EXPECT_EQ(*memory.total_bytes, 24684084LL * 1024);
  EXPECT_EQ(*memory.available_bytes, 20000000LL * 1024);
  EXPECT_EQ(*memory.cgroup_limit_bytes, 2147483648);
  EXPECT_EQ(*usable_bytes(memory), 2147483648);
  EXPECT_EQ(*memory.swap_total_bytes, 102400);
  EXPECT_EQ(*memory.swap_free_bytes, 40960);
  EXPECT_EQ(*memory.hugepages_total, 3);
  EXPECT_EQ(*memory.hugepages_free, 2);
  EXPECT_EQ(*memory.hugepage_size_bytes, 2097152);
  EXPECT_EQ(*memory.transparent_hugepages, "madvise");
  EXPECT_FALSE(memory.transparent_hugepages_defrag);
}

TEST(Memory, MissingFilesAreMissingWithAReason) {
  const FakeTree tree;
  const auto memory = read_memory(tree.files());
  EXPECT_EQ(memory.total_bytes.reason(), "no MemTotal in /proc/meminfo");
  EXPECT_FALSE(usable_bytes(memory));
  EXPECT_FALSE(process_memory(tree.files()).rss_bytes);
  EXPECT_FALSE(reset_rss_peak(tree.files()));
}

TEST(Memory, ReadsAProcessAndResetsItsPeak) {
  FakeTree tree;
  tree.file("proc/self/status", "Name:\tx\nVmHWM:\t    2000 kB\nVmRSS:\t    1000 kB\n");
  tree.file("proc/77/status", "VmHWM:\t 3 kB\nVmRSS:\t broken\n").file("proc/self/clear_refs", "");
  EXPECT_EQ(*process_memory(tree.files()).rss_bytes, 1024000);
  EXPECT_EQ(*process_memory(tree.files()).rss_peak_bytes, 2048000);
  EXPECT_EQ(*process_memory(tree.files(), 77).rss_peak_bytes, 3072);
  tree.file("proc/7/status", "VmHWM: 9 kB\nVmRSS: 8 kB\nRssAnon: 5 kB\nRssFile: 2 kB\nRssShmem: 1 kB\n");
  EXPECT_EQ(*process_memory(tree.files(), 7).shared_bytes, 3072);
  EXPECT_FALSE(process_memory(tree.files(), 77).shared_bytes);
  EXPECT_FALSE(process_memory(tree.files(), 77).rss_bytes);
  EXPECT_TRUE(reset_rss_peak(tree.files()));
  EXPECT_EQ(tree.files().read("proc/self/clear_refs"), "5");
}

}  // namespace
}  // namespace paceline::host
