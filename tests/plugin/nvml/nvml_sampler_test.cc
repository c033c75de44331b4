// SPDX-License-Identifier: MIT
// Every value and every refusal of a scripted driver as the sampler returns them.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "plugin/registry.h"

namespace paceline::nvml_test {
namespace {

using ::testing::HasSubstr;
using Value = std::variant<double, std::string>;

class Nvml : public ::testing::Test {
 protected:
  // The sampler finds the double by its name, since it is loaded.
  static void SetUpTestSuite() {
    ASSERT_NE(::dlopen(DOUBLE_FILE, RTLD_NOW | RTLD_LOCAL), nullptr) << ::dlerror();
  }
  void TearDown() override {
    for (const char* name : {"FAKE_NVML", "FAKE_NVML_INIT", "CUDA_VISIBLE_DEVICES"}) ::unsetenv(name);
    sampler_.reset();
    std::remove(script_.c_str());
  }

  std::chrono::nanoseconds open(const std::string& script, std::vector<std::string> devices = {"cuda:0"},
                                const std::string& pcie = "false", const std::string& period_ms = "100") {
    std::ofstream(script_) << script;
    ::setenv("FAKE_NVML", script_.c_str(), 1);
    sampler_ = plugin::LoadedPlugin(PLUGIN_FILE).make<plugin::Role::kSampler>("nvml");
    return sampler_->open({std::move(devices), {{"period_ms", period_ms}, {"pcie", pcie}}});
  }
  std::string refusal(const std::string& script, std::vector<std::string> devices = {"cuda:0"}) {
    try {
      open(script, std::move(devices));
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUnavailable);
      return e.what();
    }
    return {};
  }
  // By "power" or, of several devices, "cuda:1 power".
  std::map<std::string, Value> read(bool by_device = false, plugin::Moment moment = plugin::Moment::kEdge) {
    std::map<std::string, Value> values;
    for (const auto& one : sampler_->read(moment)) {
      if (is_empty(one.value)) continue;
      const auto name = by_device ? one.device + " " + one.metric : one.metric;
      EXPECT_TRUE(values.emplace(name, one.value).second) << name;
      units_[one.metric] = one.unit;
    }
    return values;
  }
  static bool is_empty(const Value& value) {
    const auto* number = std::get_if<double>(&value);
    return number ? !std::isfinite(*number) : std::get<std::string>(value).empty();
  }
  static double number(const std::map<std::string, Value>& values, const std::string& name) {
    return std::get<double>(values.at(name));
  }
  static std::string words(const std::map<std::string, Value>& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? "" : std::get<std::string>(found->second);
  }

  std::unique_ptr<plugin::Sampler> sampler_;
  std::map<std::string, std::string> units_;
  std::string script_ = (temp_dir() / fmt::format("nvml-{}", ::getpid())).string();
};

TEST_F(Nvml, EveryValueArrivesWithItsUnit) {
  EXPECT_EQ(open(R"(
0 ClockInfo.1 1980 1410
0 ClockInfo.2 3201
0 FieldValues.186 699500
0 TotalEnergyConsumption 5000000 5070000
0 Temperature 63
0 UtilizationRates.gpu 98
0 UtilizationRates.memory 55
0 MemoryInfo_v2.used 12100000000
0 CurrentClocksEventReasons 0x1 0x4
0 FieldValues.138 100
0 FieldValues.139 200
0 ComputeRunningProcesses self,1,self
0 PcieThroughput.0 839
0 PcieThroughput.1 473
)",
                 {"cuda:0"}, "true"),
            std::chrono::milliseconds(100));
  const auto first = read(), second = read();
  const std::map<std::string, std::pair<double, std::string>> expected{
      {"sm_clock", {1980, "MHz"}},       {"memory_clock", {3201, "MHz"}}, {"power", {699.5, "W"}},
      {"energy", {5000, "J"}},           {"temperature", {63, "°C"}},     {"utilization", {98, "%"}},
      {"memory_utilization", {55, "%"}}, {"memory_used", {12.1e9, "B"}},  {"nvlink_tx", {102400, "B"}},
      {"nvlink_rx", {204800, "B"}},      {"other_processes", {1, "1"}},   {"pcie_tx", {839e3, "B/s"}},
      {"pcie_rx", {473e3, "B/s"}}};
  for (const auto& [name, one] : expected) {
    EXPECT_DOUBLE_EQ(number(first, name), one.first) << name;
    EXPECT_EQ(units_.at(name), one.second) << name;
  }
  EXPECT_EQ(words(first, "slowdown"), "none");
  EXPECT_EQ(first.size(), expected.size() + 1);  // nothing is left out
  EXPECT_EQ(number(second, "sm_clock"), 1410);
  EXPECT_EQ(number(second, "energy"), 5070);
  EXPECT_EQ(words(second, "slowdown"), "power cap");
}

TEST_F(Nvml, SlowOrCostlyMetricsAreReadOncePerSecond) {
  open("", {"cuda:0"}, "true", "250");
  const auto within = [&] { return read(false, plugin::Moment::kWithin); };
  const auto has_slow = [&] {
    const auto values = within();
    for (const char* fast : {"sm_clock", "power", "slowdown"}) EXPECT_TRUE(values.contains(fast)) << fast;
    for (const char* slow : {"memory_clock", "utilization", "memory_used", "other_processes"})
      EXPECT_EQ(values.count("temperature"), values.count(slow)) << slow;
    return values.contains("temperature");
  };
  EXPECT_TRUE(within().contains("pcie_tx"));
  EXPECT_FALSE(within().contains("pcie_tx"));
  (void)within(), (void)within();
  EXPECT_EQ((std::vector<bool>{has_slow(), has_slow(), has_slow(), has_slow(), has_slow()}),
            (std::vector<bool>{true, false, false, false, true}));
  EXPECT_EQ(open("", {"cuda:0"}, "false", "2000"), std::chrono::seconds(2));
  EXPECT_TRUE(has_slow());
  EXPECT_FALSE(within().contains("pcie_tx"));
}

// The driver may take long for the first call of a function, and the GPU idles meanwhile.
TEST_F(Nvml, NothingIsAskedForTheFirstTimeInsideTheWindow) {
  const auto asked = [] {
    using Asked = unsigned (*)();
    return reinterpret_cast<Asked>(::dlsym(::dlopen(DOUBLE_FILE, RTLD_NOW | RTLD_LOCAL), "fakeNvmlAsked"))();
  };
  open("", {"cuda:0", "cuda:1"}, "true");
  const auto before = asked();
  EXPECT_GT(before, 20U);
  (void)read(true);
  EXPECT_EQ(asked(), before);
}

// It takes milliseconds; what counts is that both ends of the window have it.
TEST_F(Nvml, TheEnergyCounterIsReadAtTheEndsOfTheWindowAndEveryTenSeconds) {
  open("", {"cuda:0"}, "false", "1000");
  EXPECT_TRUE(read().contains("energy"));
  int count = 0;
  for (int i = 1; i < 20; ++i) count += read(false, plugin::Moment::kWithin).contains("energy") ? 1 : 0;
  EXPECT_EQ(count, 1);
  EXPECT_TRUE(read().contains("energy"));
}

TEST_F(Nvml, SlowdownsAreInWordsTheMostSevereFirst) {
  open("0 CurrentClocksEventReasons 0x0 0x103 0x44 0x2C 0x88 0x8 0xEC\n");
  std::vector<std::string> all;
  for (int i = 0; i < 7; ++i) all.push_back(words(read(), "slowdown"));
  EXPECT_EQ(all, (std::vector<std::string>{"none", "none", "thermal slowdown, power cap",
                                           "thermal slowdown, power cap", "power brake", "hardware slowdown",
                                           "thermal slowdown, power brake, power cap"}));
}

TEST_F(Nvml, OlderDriversHaveOtherFunctions) {
  open(R"(
* CurrentClocksEventReasons Absent
* CurrentClocksThrottleReasons 0x40
* MemoryInfo_v2.used Absent
* MemoryInfo.used 77
* FieldValues.186 !2
* PowerUsage 250000
)");
  const auto values = read();
  EXPECT_EQ(words(values, "slowdown"), "thermal slowdown");
  EXPECT_EQ(number(values, "memory_used"), 77);
  EXPECT_EQ(number(values, "power"), 250);
}

TEST_F(Nvml, MissingMetricsAreListedOnceAndTheOthersAreRead) {
  open(R"(
* TotalEnergyConsumption !3
* FieldValues.186 !3
* PowerUsage !4
* UtilizationRates.gpu Absent
* FieldValues.138 5
* FieldValues.139 5
)");
  const auto values = read();
  EXPECT_EQ(words(values, "left_out"),
            "power: Insufficient Permissions; "
            "energy: Not Supported; "
            "utilization, memory_utilization: this driver has no nvmlDeviceGetUtilizationRates");
  for (const char* name : {"power", "energy", "utilization", "memory_utilization"})
    EXPECT_FALSE(values.contains(name)) << name;
  EXPECT_EQ(number(values, "sm_clock"), 1980);
  EXPECT_FALSE(read().contains("left_out"));
}

TEST_F(Nvml, OneRefusalThatPassesLeavesNoGap) {
  open("0 Temperature 40\n0 ClockInfo.1 1980 !999 1970\n0 FieldValues.138 5\n0 FieldValues.139 5\n");
  EXPECT_FALSE(read().contains("left_out"));
  const auto second = read();
  EXPECT_FALSE(second.contains("sm_clock"));
  EXPECT_EQ(words(second, "left_out"), "sm_clock: Unknown Error");
  EXPECT_EQ(number(read(), "sm_clock"), 1970);
}

TEST_F(Nvml, ALostGpuEndsTheSamplerWithItsReason) {
  open("0 ClockInfo.1 1980 1980 !15\n");
  (void)read(), (void)read();
  try {
    (void)read();
    FAIL() << "the GPU is not missed";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("cuda:0 does not answer any more (GPU is lost)"));
  }
}

TEST_F(Nvml, AGpuThatIsLostLeavesTheOthersAndComesBack) {
  open("1 ClockInfo.1 1410 !16 1200\n1 Temperature 50 51\n", {"cuda:0", "cuda:1"});
  EXPECT_EQ(number(read(true), "cuda:1 sm_clock"), 1410);
  const auto lost = read(true);
  EXPECT_EQ(number(lost, "cuda:0 sm_clock"), 1980);
  EXPECT_FALSE(lost.contains("cuda:1 temperature"));
  EXPECT_THAT(words(lost, "cuda:1 left_out"),
              HasSubstr("everything: cuda:1 does not answer any more (GPU requires reset)"));
  const auto back = read(true);
  EXPECT_EQ(number(back, "cuda:1 sm_clock"), 1200);
  EXPECT_EQ(number(back, "cuda:1 temperature"), 51);
}

TEST_F(Nvml, AMetricWithoutAValueThisTimeIsNotFinite) {
  open("0 ClockInfo.1 1980 !999 !999 1970\n0 CurrentClocksEventReasons 0x4 !999\n");
  (void)read();
  for (int again = 0; again < 2; ++again) {
    const auto readings = sampler_->read(plugin::Moment::kWithin);
    const auto of = [&](const std::string& metric) {
      return *std::ranges::find(readings, metric, &plugin::Reading::metric);
    };
    EXPECT_TRUE(std::isnan(std::get<double>(of("sm_clock").value)));
    EXPECT_EQ(std::get<std::string>(of("slowdown").value), "");
    EXPECT_THAT(std::get<std::string>(of("left_out").value), HasSubstr("sm_clock: Unknown Error"));
  }
  EXPECT_EQ(number(read(), "sm_clock"), 1970);
}

TEST_F(Nvml, PlaceholdersOfTheDriverAreMissingValues) {
  open(R"(
0 ClockInfo.1 4294967295
0 ClockInfo.2 3201
0 FieldValues.186 4294967295
0 PowerUsage 4294967295
0 TotalEnergyConsumption 18446744073709551615
0 Temperature 4294967295
0 UtilizationRates.gpu 4294967295
0 MemoryInfo_v2.used 18446744073709551615
0 FieldValues.138 18446744073709551615
)");
  const auto values = read();
  EXPECT_EQ(number(values, "memory_clock"), 3201);
  for (const char* name : {"sm_clock", "power", "energy", "temperature", "utilization", "memory_utilization",
                           "memory_used", "nvlink_tx", "nvlink_rx"})
    EXPECT_FALSE(values.contains(name)) << name;
  EXPECT_THAT(words(values, "left_out"), HasSubstr("power: the driver has no value for it"));
}

TEST_F(Nvml, ImplausibleNumbersAreMissingValues) {
  open("0 UtilizationRates.gpu 101\n0 Temperature 65535\n0 FieldValues.186 2147483647\n");
  const auto values = read();
  for (const char* name : {"temperature", "utilization", "power"})
    EXPECT_FALSE(values.contains(name)) << name;
  EXPECT_THAT(words(values, "left_out"),
              HasSubstr("utilization, memory_utilization: the driver gives 101 %, which no GPU has"));
}

TEST_F(Nvml, ACounterOf32BitsGoesOnWhereItBeginsAgain) {
  open("0 TotalEnergyConsumption 4294967000 704 1704\n");
  EXPECT_DOUBLE_EQ(number(read(), "energy"), 4294967.000);
  EXPECT_DOUBLE_EQ(number(read(), "energy"), 4294968.000);
  EXPECT_DOUBLE_EQ(number(read(), "energy"), 4294969.000);
}

TEST_F(Nvml, ACounterThatGoesBackHasNoMoreValues) {
  open("0 TotalEnergyConsumption 5000000 4000000 4100000\n");
  EXPECT_EQ(number(read(), "energy"), 5000);
  const auto second = read();
  EXPECT_FALSE(second.contains("energy"));
  EXPECT_THAT(words(second, "left_out"),
              HasSubstr("energy: its counter went back from 5000000 to 4000000 mJ"));
  EXPECT_FALSE(read().contains("energy"));
}

TEST_F(Nvml, ProcessesOfOthersAreCountedWhereOursAreListed) {
  std::string many = "self";
  for (int i = 0; i < 99; ++i) many += ",1";
  open(fmt::format("0 ComputeRunningProcesses 1,2 self {}\n", many), {"cuda:0"}, "false", "1000");
  const auto hidden = read();
  EXPECT_FALSE(hidden.contains("other_processes"));
  EXPECT_THAT(
      words(hidden, "left_out"),
      HasSubstr("other_processes: the driver does not list this case's own processes, as in a container"));
  EXPECT_EQ(number(read(), "other_processes"), 0);
  EXPECT_EQ(number(read(), "other_processes"), 99);  // more than it had room for
}

TEST_F(Nvml, DevicesAreThoseThatCudaCounts) {
  open("1 ClockInfo.1 1410\n", {"cuda:0", "cuda:1"});
  auto values = read(true);
  EXPECT_EQ(number(values, "cuda:0 sm_clock"), 1980);
  EXPECT_EQ(number(values, "cuda:1 sm_clock"), 1410);
  for (const char* visible : {"1", "GPU-bb", "1,0", "MIG-bb-1"}) {
    ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    open("1 ClockInfo.1 1410\n");
    EXPECT_EQ(number(read(), "sm_clock"), 1410) << visible;
  }
}

TEST_F(Nvml, OneDeviceThatIsNotKnownDoesNotEndTheOther) {
  ::setenv("CUDA_VISIBLE_DEVICES", "0,GPU-cc", 1);
  open("", {"cuda:0", "cuda:1"});
  const auto values = read(true);
  EXPECT_EQ(number(values, "cuda:0 sm_clock"), 1980);
  EXPECT_EQ(words(values, "cuda:1 left_out"),
            "everything: NVIDIA's management library does not know which GPU it is");
  EXPECT_FALSE(read(true).contains("cuda:1 left_out"));
}

TEST_F(Nvml, MoreRanksThanGpusShareThem) {
  open("", {"cuda:0", "cuda:1", "cuda:2", "cuda:3"});
  std::set<std::string> devices;
  for (const auto& one : sampler_->read(plugin::Moment::kEdge)) devices.insert(one.device);
  EXPECT_EQ(devices, (std::set<std::string>{"cuda:0", "cuda:1"}));
}

TEST_F(Nvml, WithoutAGpuItSaysWhy) {
  EXPECT_EQ(refusal("", {"cpu"}), "the case runs on no NVIDIA GPU");
  EXPECT_EQ(refusal("", {"cuda:2"}), "NVIDIA's management library does not know which GPU it is");
  ::setenv("FAKE_NVML_INIT", "18", 1);
  EXPECT_EQ(refusal(""), "nvmlInit_v2: Driver/library version mismatch");
  ::unsetenv("FAKE_NVML_INIT");
  ::setenv("CUDA_VISIBLE_DEVICES", "MIG-cc", 1);
  EXPECT_EQ(refusal(""), "nvmlDeviceGetHandleByUUID: Unknown Error");
}

}  // namespace
}  // namespace paceline::nvml_test
