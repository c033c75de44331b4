// SPDX-License-Identifier: MIT
#include "host/checks/machine.h"

#include <fmt/format.h>

#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "host/checks/differences.h"
#include "host/checks/fact_rules.h"
#include "host/checks/load_figures.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

using nlohmann::json;

Machine some_machine() {
  Machine machine{"0.1.0", "node0", "2026-11-27T12:00:00Z", {}, {}};
  machine.facts = {
      {"CPU model", "AMD EPYC", {}},    {"CPUs online", 8, {}},    {"CPU quota", {}, kNoLimit},
      {"memory", 64'000'000'000, {}},   {"turbo", true, {}},       {"governor", {}, "no cpufreq"},
      {"GPU 0 power limit", 700.0, {}}, {"library spin", "1", {}}, {"variable NCCL_IB_HCA", "mlx5", {}}};
  machine.load = {{"cuda:0", "product bf16", "FLOP/s", 700e12, 690e12, 710e12, 10}};
  return machine;
}

Fact& fact(Machine& machine, std::string_view name) {
  return const_cast<Fact&>(*find_fact(machine, name));
}

std::vector<Difference> after(const std::function<void(Machine&)>& change) {
  auto found = some_machine();
  change(found);
  return differences(found, some_machine());
}

Difference only_one(const std::function<void(Machine&)>& change) {
  const auto all = after(change);
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? Difference{} : all.front();
}

TEST(MachineFacts, AreReadFromEnvironmentAndLimits) {
  FakeTree tree;
  tree.file("proc/self/limits",
            "Limit Soft Limit Hard Limit Units\nMax locked memory 8388608 unlimited bytes\nMax open files "
            "1024 4096 files\nMax processes unlimited unlimited processes\n");
  const json environment = {{"cpu",
                             {{"model", "AMD EPYC"},
                              {"isa", {"avx", "avx2"}},
                              {"affinity", "0-3,8"},
                              {"cgroup_quota_cpus", nullptr},
                              {"cgroup_quota_cpus_reason", "no limit"}}},
                            {"nvidia", {{"gpus", {{{"name", "NVIDIA H200"}, {"power_limit_w", 700}}}}}},
                            {"variables", {{"OMP_NUM_THREADS", "4"}}}};
  const Machine machine{"", "", "", facts_of(environment, tree.files()), {}};
  const auto shown = [&](const char* name) {
    const auto* found = find_fact(machine, name);
    return found ? shown_value(*found) : "no such fact";
  };
  EXPECT_EQ(shown("CPU model"), "AMD EPYC");
  EXPECT_EQ(shown("CPU extensions"), "avx avx2");
  EXPECT_EQ(shown("CPUs in the affinity mask"), "5 CPUs");
  EXPECT_EQ(shown("CPU quota"), "no limit");
  EXPECT_EQ(shown("open files"), "1024");
  EXPECT_EQ(shown("locked memory"), "8.39 MB");
  EXPECT_EQ(shown("processes"), "no limit");
  EXPECT_EQ(shown("GPUs"), "1");
  EXPECT_EQ(shown("GPU 0 model"), "NVIDIA H200");
  EXPECT_EQ(shown("GPU 0 power limit"), "700 W");
  EXPECT_EQ(shown("variable OMP_NUM_THREADS"), "4");
  EXPECT_EQ(shown("kernel"), "not known");
}

TEST(MachineFiles, AreReadAsTheyWereWritten) {
  const auto machine = some_machine();
  EXPECT_EQ(to_json(machine_from_json(to_json(machine), "base.json")), to_json(machine));
  EXPECT_TRUE(after([](Machine&) {}).empty());
}

TEST(MachineFiles, TextOfAnotherHostStaysOnItsLine) {
  const std::string forged = "x\nFAIL  node1: all is lost\x1b[2J";
  auto machine = some_machine();
  machine.facts = {{"CPU model", forged, {}}, {"turbo", {}, forged}, {"library " + forged, "1", {}}};
  machine.load = {{forged, forged, forged, 1, 1, 1, 1}};
  const auto read = machine_from_json(to_json(machine), "base.json");
  std::string shown = read.host + read.load.front().name() + read.load.front().unit;
  for (const auto& one : read.facts) shown += one.name + shown_value(one);
  for (const auto& one : differences(read, some_machine())) shown += one.name + one.found + one.expected;
  EXPECT_EQ(shown.find_first_of("\n\x1b"), std::string::npos) << shown;
}

std::string refusal(const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("machine-{}.json", ::getpid());
  write_file_atomic(file, text);
  try {
    read_machine(file);
  } catch (const Error& e) {
    std::filesystem::remove(file);
    EXPECT_EQ(e.code(), ErrorCode::kData);
    EXPECT_NE(std::string(e.what()).find(file.string()), std::string::npos) << e.what();
    return e.what();
  }
  return "it was read";
}

TEST(MachineFiles, OthersAreRefusedWithTheReason) {
  const auto whole = to_json(some_machine()).dump();
  EXPECT_NE(refusal("").find("it is empty"), std::string::npos);
  EXPECT_NE(refusal(whole.substr(0, whole.size() / 2)).find("cut off"), std::string::npos);
  EXPECT_NE(refusal("{\"cases\": []}").find("no \"format\""), std::string::npos);
  EXPECT_NE(refusal("[]").find("no \"format\""), std::string::npos);
  auto newer = to_json(some_machine());
  newer["format_version"] = 2;
  EXPECT_NE(refusal(newer.dump()).find("newer Paceline"), std::string::npos);
  auto damaged = to_json(some_machine());
  damaged.erase("facts");
  EXPECT_NE(refusal(damaged.dump()).find("'facts' not found"), std::string::npos);
  damaged = to_json(some_machine());
  damaged["load"][0]["median"] = "fast";
  EXPECT_NE(refusal(damaged.dump()).find("type must be number"), std::string::npos);
}

TEST(MachineDifferences, OnlyALowerLimitFails) {
  const auto lower = only_one([](Machine& m) { fact(m, "CPU quota") = {"CPU quota", 0.5, {}}; });
  EXPECT_EQ(lower.status, Verdict::kNo);
  EXPECT_EQ(lower.found, "0.5 CPUs");
  EXPECT_EQ(lower.expected, "no limit");
  EXPECT_NE(lower.fix.find("cpu.max"), std::string::npos);
  EXPECT_EQ(only_one([](Machine& m) { fact(m, "CPUs online").value = 16; }).status, Verdict::kReservedly);
  EXPECT_EQ(only_one([](Machine& m) { fact(m, "GPU 0 power limit").value = 400; }).fix,
            "nvidia-smi -i N -pl WATTS");
}

TEST(MachineDifferences, IgnoresMemoryThatTheKernelKeeps) {
  EXPECT_TRUE(after([](Machine& m) { fact(m, "memory").value = 63'500'000'000; }).empty());
  EXPECT_EQ(only_one([](Machine& m) { fact(m, "memory").value = 32'000'000'000; }).status, Verdict::kNo);
}

TEST(MachineDifferences, AFactUnknownOnOneSideIsADifference) {
  const auto one = only_one([](Machine& m) { fact(m, "turbo") = {"turbo", {}, "no turbo switch in /sys"}; });
  EXPECT_EQ(one.status, Verdict::kReservedly);
  EXPECT_EQ(one.found, "no turbo switch in /sys");
  EXPECT_EQ(one.expected, "on");
  EXPECT_TRUE(after([](Machine& m) { fact(m, "governor").reason = "another reason"; }).empty());
  const auto quota = only_one([](Machine& m) { fact(m, "CPU quota").reason = "cpu.max cannot be read"; });
  EXPECT_EQ(quota.found, "cpu.max cannot be read");
  EXPECT_EQ(quota.expected, "no limit");
}

TEST(MachineDifferences, AreAbsentLibrariesAndVariablesButNoFactsOfOtherVersions) {
  EXPECT_TRUE(
      after([](Machine& m) { std::erase_if(m.facts, [](auto& f) { return f.name == "turbo"; }); }).empty());
  EXPECT_TRUE(after([](Machine& m) { m.facts.push_back({"fans", 4, {}}); }).empty());
  const auto all = after([](Machine& m) {
    m.facts.resize(7);  // neither the library nor the variable
    m.facts.push_back({"library other", "2", {}});
  });
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name + ": " + all[0].found, "library spin: not there");
  EXPECT_EQ(all[1].name + ": " + all[1].expected, "library other: not there");
  EXPECT_EQ(all[2].name + ": " + all[2].found, "variable NCCL_IB_HCA: not set") << "FAIL stands first";
}

TEST(MachineDifferences, ASlowDeviceIsOneBeyondItsNoise) {
  const auto load = [](double median, double half) {
    return [=](Machine& m) {
      m.load = {{"cuda:0", "product bf16", "FLOP/s", median, median - half, median + half, 10}};
    };
  };
  const auto slow = only_one(load(220e12, 10e12));
  EXPECT_EQ(slow.status, Verdict::kNo);
  EXPECT_EQ(slow.name, "cuda:0: product bf16");
  EXPECT_EQ(slow.found, "220 TFLOP/s (210–230)");
  EXPECT_EQ(slow.expected, "700 TFLOP/s (690–710)");
  EXPECT_TRUE(after(load(650e12, 10e12)).empty()) << "within a tenth";
  EXPECT_TRUE(after(load(500e12, 150e12)).empty()) << "its interval reaches there";
  EXPECT_EQ(only_one(load(900e12, 10e12)).status, Verdict::kReservedly);
  EXPECT_TRUE(after([](Machine& m) { m.load.clear(); }).empty()) << "no load test ran";
  const auto gone = only_one([](Machine& m) { m.load.front().where = "cuda:1"; });
  EXPECT_EQ(gone.found, "not measured");
  EXPECT_EQ(gone.status, Verdict::kNo);
}

TEST(MachineDifferences, BecomeRows) {
  const std::vector<Difference> quota{{"CPU quota", "0.5 CPUs", "no limit", Verdict::kNo, "raise it"}};
  const auto rows = host::rows_of(quota, "b.json");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].result.text, "0.5 CPUs here, no limit in b.json");
  EXPECT_EQ(rows[0].result.status, Verdict::kNo);
  EXPECT_EQ(host::rows_of(std::vector<Difference>(), "b.json").front().result.text,
            "nothing differs from b.json");
}

TEST(FactRules, EachFactHasOne) {
  EXPECT_EQ(rule_of("GPU 12 power limit").unit, FactUnit::kWatts);
  EXPECT_EQ(rule_of("GPU 12 colour").name, "GPU ");
  EXPECT_EQ(rule_of("GPUs").name, "GPUs");
  EXPECT_EQ(rule_of("memory").unit, FactUnit::kBytes);
  EXPECT_EQ(rule_of("memory limit").pointer, "/memory/cgroup_limit_bytes");
  EXPECT_EQ(rule_of("fans").name, "");
}

}  // namespace
}  // namespace paceline::host
