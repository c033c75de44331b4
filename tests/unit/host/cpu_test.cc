// SPDX-License-Identifier: MIT
#include "host/machine/cpu.h"

#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

// One Xeon socket, two cores with two hardware threads each: siblings 0,2 and 1,3.
FakeTree& xeon(FakeTree& tree) {
  tree.file("proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
            "model name\t: Intel(R) Xeon(R) Platinum 8480+\nstepping\t: 8\nmicrocode\t: 0x2b000461\n"
            "flags\t\t: fpu tsc constant_tsc nonstop_tsc sse4_2 avx avx2 fma avx512f avx512_bf16 avx512_vnni "
            "amx_bf16 avx512_fp16 amx_tile amx_int8\n\nprocessor\t: 1\nmodel name\t: other\n");
  tree.file("sys/devices/system/cpu/online", "0-3\n").file("sys/devices/system/node/online", "0-1\n");
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    tree.file(folder + "thread_siblings_list", cpu % 2 == 0 ? "0,2\n" : "1,3\n");
    tree.file(folder + "physical_package_id", "0\n");
  }
  const std::string cache = "sys/devices/system/cpu/cpu0/cache/";
  tree.file(cache + "index0/level", "1\n").file(cache + "index0/size", "48K\n");
  tree.file(cache + "index3/level", "3\n").file(cache + "index3/size", "105M\n");
  tree.file(cache + "uevent", "");
  tree.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  tree.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate\n");
  tree.file("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  tree.file("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n");
  tree.file("sys/devices/system/cpu/vulnerabilities/retbleed", "Mitigation: Enhanced IBRS\n");
  return tree;
}

TEST(Cpu, ReadsAServerCompletely) {
  FakeTree tree;
  const CpuInfo cpu = read_cpu(xeon(tree).files(), {0, 1, 2, 3});
  EXPECT_EQ(*cpu.model, "Intel(R) Xeon(R) Platinum 8480+");
  EXPECT_EQ(*cpu.vendor, "GenuineIntel");
  EXPECT_EQ(*cpu.microcode, "0x2b000461");
  EXPECT_EQ(*cpu.family, 6);
  EXPECT_EQ(*cpu.model_number, 143);
  EXPECT_EQ(*cpu.stepping, 8);
  EXPECT_EQ(*cpu.sockets, 1);
  EXPECT_EQ(*cpu.cores, 2);
  EXPECT_EQ(*cpu.threads_per_core, 2);
  EXPECT_EQ(*cpu.numa_nodes, 2);
  EXPECT_EQ(*cpu.llc_bytes, 105LL << 20);
  EXPECT_EQ(*cpu.governor, "powersave");
  EXPECT_EQ(*cpu.frequency_driver, "intel_pstate");
  EXPECT_EQ(*cpu.turbo, false);
  EXPECT_EQ(cpu.mitigations.at("retbleed"), "Mitigation: Enhanced IBRS");
  EXPECT_EQ(cpu.isa,
            (std::vector<std::string>{"sse4_2", "avx", "fma", "avx2", "avx512f", "avx512_vnni", "avx512_bf16",
                                      "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8"}));
  EXPECT_TRUE(cpu.has_isa("amx_int8"));
  EXPECT_FALSE(cpu.has_isa("amx_fp16"));
  EXPECT_FALSE(cpu.virtualized());
  EXPECT_EQ(allowed_cpu_count(cpu), 4);
}

// An EPYC: a cache for every two CPUs.
TEST(Cpu, EveryLastLevelCacheCountsOnce) {
  FakeTree tree;
  for (int cpu = 0; cpu < 6; ++cpu) {
    const auto folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/";
    const int first = cpu / 2 * 2;
    tree.file(folder + "index2/level", "2\n").file(folder + "index2/size", "1024K\n");
    tree.file(folder + "index2/shared_cpu_list", std::to_string(cpu) + "\n");
    tree.file(folder + "index3/level", "3\n").file(folder + "index3/size", "32768K\n");
    tree.file(folder + "index3/shared_cpu_list",
              std::to_string(first) + "-" + std::to_string(first + 1) + "\n");
  }
  EXPECT_EQ(last_level_bytes(tree.files(), {0, 1, 2, 3, 4, 5}), 96LL << 20);
  EXPECT_EQ(last_level_bytes(tree.files(), {1, 4}), 64LL << 20);
  EXPECT_EQ(last_level_bytes(tree.files(), {0, 1}), 32LL << 20);
  EXPECT_EQ(last_level_bytes(tree.files(), {9}), 0);
}

TEST(Cpu, BareTreeIsMissingWithReasons) {
  const FakeTree tree;
  const CpuInfo cpu = read_cpu(tree.files(), {});
  EXPECT_EQ(cpu.model.reason(), "not in /proc/cpuinfo");
  EXPECT_EQ(cpu.governor.reason(), "no cpufreq");
  EXPECT_EQ(cpu.turbo.reason(), "no turbo switch in /sys");
  EXPECT_FALSE(cpu.cores);
  EXPECT_FALSE(cpu.llc_bytes);
  EXPECT_FALSE(cpu.numa_nodes);
  EXPECT_TRUE(cpu.online.empty());
  EXPECT_EQ(allowed_cpu_count(cpu), 1);
}

TEST(Cpu, ArmNamesAreUnderstoodAndProcessorLinesCount) {
  FakeTree tree;
  tree.file(
      "proc/cpuinfo",
      "processor\t: 0\nBogoMIPS\t: 50\nFeatures\t: fp asimd asimddp sve bf16 i8mm\nCPU implementer\t: 0x41\n"
      "CPU part\t: 0xd40\nprocessor\t: 1\n");
  const CpuInfo cpu = read_cpu(tree.files(), {});
  EXPECT_EQ(*cpu.model, "0xd40");
  EXPECT_EQ(cpu.isa, (std::vector<std::string>{"asimd", "asimddp", "sve", "bf16", "i8mm"}));
  EXPECT_EQ(cpu.online, (std::vector<int>{0, 1}));
  EXPECT_EQ(allowed_cpu_count(cpu), 2);
}

TEST(Cpu, MalformedContentIsMissing) {
  FakeTree tree;
  tree.file("proc/cpuinfo", "model\t: seven\nstepping\n:\n: x\nflags\t:\n")
      .file("sys/devices/system/cpu/online", "x-y\n");
  tree.file("sys/devices/system/cpu/cpufreq/boost", "maybe\n");
  const CpuInfo cpu = read_cpu(tree.files(), {});
  EXPECT_FALSE(cpu.model_number);
  EXPECT_FALSE(cpu.stepping);
  EXPECT_FALSE(cpu.turbo);
  EXPECT_TRUE(cpu.isa.empty());
  EXPECT_TRUE(cpu.online.empty());
}

TEST(Cpu, BoostSwitchOfOtherDrivers) {
  FakeTree tree;
  tree.file("sys/devices/system/cpu/cpufreq/boost", "1\n");
  EXPECT_EQ(*read_cpu(tree.files(), {}).turbo, true);
}

TEST(AllowedCpus, IsTheSmallerOfAffinityAndQuotaRoundedDown) {
  EXPECT_EQ(allowed_cpu_count(8, Number::missing("no limit")), 8);
  EXPECT_EQ(allowed_cpu_count(8, 1.5), 1);
  EXPECT_EQ(allowed_cpu_count(8, 3.99), 3);
  EXPECT_EQ(allowed_cpu_count(8, 2.0), 2);
  EXPECT_EQ(allowed_cpu_count(8, 0.1), 1);
  EXPECT_EQ(allowed_cpu_count(2, 16.0), 2);
  EXPECT_EQ(allowed_cpu_count(0, 4.0), 1);
}

TEST(CoresFirst, SecondHardwareThreadsComeLast) {
  FakeTree tree;
  const auto files = xeon(tree).files();
  EXPECT_EQ(cores_first(files, {3, 2, 1, 0}), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(cores_first(files, {0, 2, 3}), (std::vector<int>{0, 3, 2}));
  EXPECT_EQ(cores_first(FakeTree().files(), {5, 4}), (std::vector<int>{4, 5}));
}

}  // namespace
}  // namespace paceline::host
