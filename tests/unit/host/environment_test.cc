// SPDX-License-Identifier: MIT
#include "host/machine/environment.h"

#include <map>

#include "base/sha256.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

using nlohmann::json;

FakeTree& virtual_machine(FakeTree& tree) {
  tree.file("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t: avx2 hypervisor\n");
  tree.file("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 500 kB\n");
  tree.file("proc/sys/kernel/hostname", "secret-host-7\n").file("proc/sys/kernel/osrelease", "6.1.0-18\n");
  tree.file("proc/sys/kernel/randomize_va_space", "2\n");
  tree.file("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  tree.file("sys/class/dmi/id/sys_vendor", "QEMU\n").file("sys/class/dmi/id/product_name", "Standard PC\n");
  tree.file("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  tree.file("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc kvm-clock \n");
  tree.link("proc/self/ns/time", "time:[4026531834]").file("proc/loadavg", "0.50 0.25 0.10 1/96 9437\n");
  tree.file(".dockerenv", "").file("program", "abc");
  return tree;
}

EnvironmentSource source_of(const FakeTree& tree, std::map<std::string, std::string> variables = {}) {
  EnvironmentSource source;
  source.files = tree.files();
  source.binary = std::filesystem::path(testing::TempDir()) / "absent_binary";
  source.affinity = {0};
  source.variables = std::move(variables);
  return source;
}

// Every null has its reason beside it, at any depth.
void expect_reasons(const json& value, const std::string& path) {
  if (!value.is_object()) return;
  for (const auto& [key, item] : value.items()) {
    if (item.is_null()) {
      EXPECT_TRUE(value.contains(key + "_reason")) << path << "/" << key;
      EXPECT_FALSE(value.value(key + "_reason", "").empty()) << path << "/" << key;
    }
    expect_reasons(item, std::string(path).append("/").append(key));
  }
}

TEST(Environment, RecordsAVirtualMachine) {
  FakeTree tree;
  const json e = capture_environment("paceline run plan.yaml", source_of(virtual_machine(tree)));
  EXPECT_EQ(e["command_line"], "paceline run plan.yaml");
  EXPECT_EQ(e["cpu"]["model"], "AMD EPYC");
  EXPECT_EQ(e["cpu"]["isa"], json::array({"avx2"}));
  EXPECT_EQ(e["cpu"]["flags"], json::array({"hypervisor"}));
  EXPECT_EQ(e["cpu"]["cores_allowed"], 1);
  EXPECT_EQ(e["cpu"]["governor"], nullptr);
  EXPECT_EQ(e["cpu"]["governor_reason"], "no cpufreq");
  EXPECT_EQ(e["memory"]["total_bytes"], 1024000);
  EXPECT_EQ(e["os"]["kernel"], "6.1.0-18");
  EXPECT_EQ(e["os"]["distribution"], "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(e["os"]["container"], "docker");
  EXPECT_EQ(e["os"]["virtualization"], "QEMU Standard PC");
  EXPECT_EQ(e["clock"]["source"], "tsc");
  EXPECT_EQ(e["clock"]["available"], json::array({"tsc", "kvm-clock"}));
  EXPECT_EQ(e["clock"]["time_namespace"], 4026531834LL);
  EXPECT_EQ(e["load"]["average_1m"], 0.5);
  EXPECT_EQ(e["load"]["average_15m"], 0.1);
  expect_reasons(e, "");
}

TEST(Environment, HostNameIsStoredAsADigestOnly) {
  FakeTree tree;
  const json e = capture_environment("x", source_of(virtual_machine(tree)));
  EXPECT_EQ(e["os"]["host_sha256_16"], sha256_hex("secret-host-7").substr(0, 16));
  EXPECT_EQ(e.dump().find("secret-host-7"), std::string::npos);
}

TEST(Environment, OnlyListedVariablesAreRecorded) {
  FakeTree tree;
  const json e = capture_environment(
      "x",
      source_of(tree, {{"OMP_NUM_THREADS", "2"}, {"AWS_SECRET_ACCESS_KEY", "k3y"}, {"MKL_SECRET", "k3y"}}));
  EXPECT_EQ(e["variables"], json({{"OMP_NUM_THREADS", "2"}}));
  EXPECT_EQ(e.dump().find("k3y"), std::string::npos);
}

TEST(Environment, SettingsOfRanksAndDevicesAreRecordedByTheirBeginnings) {
  const Environment wanted{{"NCCL_IB_HCA", "mlx5_0"},      {"NCCL_TESTS_SPLIT", "AND 0x0"},
                           {"GLOO_SOCKET_IFNAME", "eth0"}, {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
                           {"OMP_DISPLAY_ENV", "true"},    {"UCX_NET_DEVICES", "mlx5_0:1"},
                           {"CUDA_VISIBLE_DEVICES", ""},   {"LD_PRELOAD", "libjemalloc.so.2"}};
  auto all = wanted;
  for (const char* other : {"HOME", "MKL", "XNCCL_DEBUG", "TORCH_HOME", "OMPI_COMM_WORLD_RANK"})
    all[other] = "x";
  EXPECT_EQ(recorded_variables(all), wanted);
}

TEST(Environment, BareTreeHasAReasonForEveryNull) {
  const FakeTree tree;
  const json e = capture_environment("x", source_of(tree));
  EXPECT_EQ(e["os"]["kernel"], nullptr);
  EXPECT_EQ(e["binary_sha256"], nullptr);
  EXPECT_EQ(e["clock"]["available"], json::array());
  expect_reasons(e, "");
}

TEST(Environment, BinaryIsDigested) {
  FakeTree tree;
  EnvironmentSource source = source_of(tree);
  source.binary = std::filesystem::path(testing::TempDir()) / "paceline_environment_binary";
  std::ofstream(source.binary) << "abc";
  EXPECT_EQ(capture_environment("x", source)["binary_sha256"],
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  std::filesystem::remove(source.binary);
}

TEST(Environment, MalformedNamespaceLinkIsMissing) {
  FakeTree tree;
  tree.link("proc/self/ns/time", "time:4026531834");
  EXPECT_EQ(capture_environment("x", source_of(tree))["clock"]["time_namespace"], nullptr);
}

}  // namespace
}  // namespace paceline::host
