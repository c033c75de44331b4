// SPDX-License-Identifier: MIT
#include "host/checks/gpu_health.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

using ::testing::HasSubstr;

// The double follows lines of this test.
class Health : public ::testing::Test {
 protected:
  void SetUp() override { tree_.file("dev/nvidiactl", ""); }
  void TearDown() override {
    for (const char* name : {"FAKE_NVML", "FAKE_NVML_INIT"}) ::unsetenv(name);
    std::remove(script_.c_str());
  }
  void says(const std::string& lines) {
    write_file_atomic(script_, lines);
    ::setenv("FAKE_NVML", script_.c_str(), 1);
  }
  CheckResult gpus(const std::string& lines, std::optional<std::string> visible = {}) {
    says(lines);
    return check_gpus(tree_.files(), FAKE_NVML, [=](const std::string& name) {
      return name == "CUDA_VISIBLE_DEVICES" ? visible : std::nullopt;
    });
  }
  CheckResult row(CheckResult (*check)(const SystemFiles&, const std::string&), const std::string& lines) {
    says(lines);
    return check(tree_.files(), FAKE_NVML);
  }
  FakeTree tree_;
  std::string script_ = (temp_dir() / fmt::format("gpu-health-{}", ::getpid())).string();
};

constexpr const char* kSecondIsLost =
    "1 Name !15\n1 UUID !15\n1 MemoryInfo.total !15\n1 Temperature !15\n1 ClockInfo.1 !15\n1 PciInfo !15\n";

TEST_F(Health, ALostGpuFailsWithTheCure) {
  const auto row = gpus(kSecondIsLost);
  EXPECT_EQ(row.status, Verdict::kNo);
  EXPECT_THAT(row.text, HasSubstr("0: NVIDIA H200 151 GB; 1: does not answer (GPU is lost)"));
  EXPECT_THAT(row.fix, HasSubstr("reset the GPU"));
}

TEST_F(Health, AGpuWithoutAHandleOrThatAsksForAResetFails) {
  EXPECT_EQ(gpus("1 Handle !15\n").status, Verdict::kNo);
  EXPECT_THAT(gpus("0 Temperature !16\n").text, HasSubstr("0: does not answer (GPU requires reset)"));
  EXPECT_THAT(gpus("* MemoryInfo.total !999\n* Temperature !999\n* ClockInfo.1 !999\n* PciInfo !999\n").text,
              HasSubstr("0: does not answer (Unknown Error); 1: does not answer"));
  EXPECT_EQ(gpus("* Temperature !3\n* ClockInfo.1 !4\n").status, Verdict::kYes) << "refused, not lost";
}

TEST_F(Health, ALostGpuThatIsHiddenWarns) {
  EXPECT_EQ(gpus(kSecondIsLost, "0").status, Verdict::kReservedly);
  EXPECT_EQ(gpus(kSecondIsLost, "GPU-aa").status, Verdict::kReservedly);
  EXPECT_EQ(gpus(kSecondIsLost, "0,1").status, Verdict::kNo);
}

TEST_F(Health, ADriverThatDoesNotStartOrListsNoGpuFails) {
  ::setenv("FAKE_NVML_INIT", "18", 1);
  const auto mismatch = gpus("");
  EXPECT_EQ(mismatch.status, Verdict::kNo);
  EXPECT_THAT(mismatch.text, HasSubstr("Driver/library version mismatch"));
  ::unsetenv("FAKE_NVML_INIT");
  EXPECT_EQ(gpus("* Count !15\n").status, Verdict::kNo);
  EXPECT_EQ(gpus("* Count 0\n").status, Verdict::kReservedly);
  tree_.file("dev/nvidia0", "");
  EXPECT_EQ(gpus("* Count 0\n").status, Verdict::kNo);
}

TEST_F(Health, TemperaturesAreJudgedByTheDistanceToTheirLimit) {
  EXPECT_EQ(row(check_gpu_temperature, "").text, "0, 1: 38 °C, 49 °C below its limit");
  const auto hot = row(check_gpu_temperature, "1 Temperature 85\n");
  EXPECT_EQ(hot.status, Verdict::kReservedly);
  EXPECT_EQ(hot.text, "1: 85 °C, 2 °C below its limit");
  EXPECT_FALSE(hot.fix.empty());
  EXPECT_EQ(row(check_gpu_temperature, "* MarginTemperature 30\n* TemperatureThreshold !3\n").text,
            "0, 1: 38 °C, 30 °C below its limit");
  EXPECT_EQ(row(check_gpu_temperature, "* Temperature 91\n* MarginTemperature -3\n").text,
            "0, 1: 91 °C, 3 °C above its limit");
  EXPECT_EQ(row(check_gpu_temperature, "* TemperatureThreshold 4294967295\n").text, "0, 1: 38 °C");
  EXPECT_EQ(row(check_gpu_temperature, "* Temperature !3\n").status, Verdict::kNotAsked);
}

TEST_F(Health, SlowdownsWarnButForThePowerCap) {
  EXPECT_EQ(row(check_gpu_slowdown, "* CurrentClocksEventReasons 0x4\n").status, Verdict::kYes);
  const auto slow =
      row(check_gpu_slowdown, "* CurrentClocksEventReasons 0x1\n1 CurrentClocksEventReasons 0x88\n");
  EXPECT_EQ(slow.status, Verdict::kReservedly);
  EXPECT_EQ(slow.text, "1: power brake");
}

TEST_F(Health, BrokenMemoryFails) {
  EXPECT_EQ(row(check_gpu_memory, "").text, "0, 1: no remapped rows");
  EXPECT_EQ(row(check_gpu_memory, "* RemappedRows 1\n").status, Verdict::kYes);
  const auto broken = row(check_gpu_memory, "0 RemappedRows 8\n0 RemappedRows.failed 1\n");
  EXPECT_EQ(broken.status, Verdict::kNo);
  EXPECT_EQ(broken.text, "0: 8 remapped rows, and a row could not be remapped");
  EXPECT_EQ(row(check_gpu_memory, "1 RemappedRows.pending 1\n").status, Verdict::kReservedly);
  const std::string older = "* RemappedRows !3\n* RetiredPagesPendingStatus 0\n";
  EXPECT_EQ(row(check_gpu_memory, older + "* RetiredPages 1\n").text, "0, 1: 2 retired pages");
  EXPECT_EQ(row(check_gpu_memory, older + "0 RetiredPages 31\n").status, Verdict::kReservedly);
  EXPECT_EQ(row(check_gpu_memory, "* RemappedRows !3\n").status, Verdict::kNotAsked);
}

TEST_F(Health, AFabricThatIsNotReadyFails) {
  EXPECT_EQ(row(check_gpu_fabric, "").text, "0, 1: registered");
  EXPECT_EQ(row(check_gpu_fabric, "* Fabric 0\n").status, Verdict::kNotAsked);
  EXPECT_EQ(row(check_gpu_fabric, "* Fabric Absent\n").status, Verdict::kNotAsked);
  for (const char* state : {"* Fabric 1\n", "* Fabric 2\n", "* Fabric.status 999\n"}) {
    const auto unready = row(check_gpu_fabric, state);
    EXPECT_EQ(unready.status, Verdict::kNo) << state;
    EXPECT_THAT(unready.fix, HasSubstr("fabricmanager"));
  }
}

TEST_F(Health, ErrorsOfTheDriverAreCounted) {
  EXPECT_EQ(check_gpu_errors(tree_.files()).status, Verdict::kNotAsked);
  tree_.file("dev/kmsg", "6,1,1,-;usb 1-1: new device\n");
  EXPECT_EQ(check_gpu_errors(tree_.files()).text, "no Xid in the kernel's log");
  tree_.file("dev/kmsg", "3,2,2,-;NVRM: Xid (PCI:0000:1b:00): 31, pid=77, name=python3, MMU Fault\n");
  EXPECT_EQ(check_gpu_errors(tree_.files()).text, "PCI:0000:1b:00: Xid 31, mostly of programs");
  tree_.file("dev/kmsg",
             "3,2,2,-;NVRM: Xid (PCI:0000:1b:00): 31, pid=77, name=python3, MMU Fault\n"
             "3,3,3,-;NVRM: Xid (PCI:0000:cf:00): 79, pid=0, GPU has fallen off the bus.\n"
             "3,4,4,-;NVRM: Xid (PCI:0000:cf:00): 79, pid=0, GPU has fallen off the bus.\n"
             "3,5,5,-;NVRM: Xid (PCI:0000");
  const auto row = check_gpu_errors(tree_.files());
  EXPECT_EQ(row.status, Verdict::kReservedly);
  EXPECT_EQ(row.text, "PCI:0000:cf:00: Xid 79 (fell off the bus) 2 times");
}

TEST_F(Health, WithoutAGpuEveryRowIsSkipped) {
  const FakeTree bare;
  for (auto* check : {check_gpu_temperature, check_gpu_slowdown, check_gpu_memory, check_gpu_fabric})
    EXPECT_EQ(check(bare.files(), FAKE_NVML).status, Verdict::kNotAsked);
  EXPECT_EQ(check_gpu_errors(bare.files()).status, Verdict::kNotAsked);
}

}  // namespace
}  // namespace paceline::host
