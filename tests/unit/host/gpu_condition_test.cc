// SPDX-License-Identifier: MIT
#include "host/machine/gpu_condition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/file.h"
#include "host/checks/host_checks.h"
#include "host/machine/environment.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

// The double follows lines of this test.
class Scripted : public ::testing::Test {
 protected:
  void SetUp() override { tree_.file("dev/nvidiactl", ""); }
  void TearDown() override {
    ::unsetenv("FAKE_NVML");
    std::remove(script_.c_str());
  }
  std::vector<GpuCondition> read(const std::string& lines) {
    std::ofstream(script_) << lines;
    ::setenv("FAKE_NVML", script_.c_str(), 1);
    return read_gpu_conditions(FAKE_NVML);
  }
  CheckResult row(const std::string& lines) {
    read(lines);
    HostCheckOptions options;
    options.files = tree_.files();
    options.nvml = FAKE_NVML;
    for (const auto& check : host_checks(options))
      if (check.name == "GPU state") return check.run();
    throw std::runtime_error("no such row");
  }
  FakeTree tree_;
  std::string script_ = (temp_dir() / fmt::format("gpu-condition-{}", ::getpid())).string();
};

TEST_F(Scripted, EveryFactArrives) {
  const auto gpus = read(R"(
1 PowerManagementLimit 400000
1 MaxClockInfo 1981
1 ApplicationsClock 1500
1 TotalEccErrors 5000000000
1 CurrPcieLinkGeneration 4
1 CurrPcieLinkWidth 8
1 MigMode 1
1 PersistenceMode 0
1 ComputeRunningProcesses 1,self,2
1 MemoryInfo_v2.used 77
)");
  ASSERT_EQ(gpus.size(), 2U);
  const auto& gpu = gpus[1];
  EXPECT_EQ(*gpu.power_limit_w, 400);
  EXPECT_EQ(*gpu.default_power_limit_w, 700);
  EXPECT_EQ(*gpu.max_sm_mhz, 1981);
  EXPECT_EQ(*gpu.application_sm_mhz, 1500);
  EXPECT_EQ(*gpu.default_application_sm_mhz, 1980);
  EXPECT_EQ(*gpu.ecc, true);
  EXPECT_EQ(*gpu.uncorrected_errors, 5'000'000'000);
  EXPECT_EQ(*gpu.pcie_generation, 4);
  EXPECT_EQ(*gpu.max_pcie_generation, 5);
  EXPECT_EQ(*gpu.pcie_width, 8);
  EXPECT_EQ(*gpu.max_pcie_width, 16);
  EXPECT_EQ(*gpu.mig, true);
  EXPECT_EQ(*gpu.persistence, false);
  EXPECT_EQ(*gpu.processes, 2);
  EXPECT_EQ(*gpu.memory_used_bytes, 77);
}

TEST_F(Scripted, EachProblemHasItsFix) {
  const auto row = this->row(R"(
1 PowerManagementLimit 400000
1 ApplicationsClock 1500
1 TotalEccErrors 1
1 CurrPcieLinkWidth 8
1 MigMode 1
1 PersistenceMode 0
1 ComputeRunningProcesses 1,2
)");
  EXPECT_EQ(row.status, Verdict::kReservedly);
  EXPECT_EQ(row.text,
            "1: its power limit is 400 W, 700 W by default; 1: its SM clock is set to 1500 MHz, 1980 MHz by "
            "default; 1: its memory had 1 error that could not be corrected; 1: its PCIe link has 8 of 16 "
            "lanes; 1: MIG is on, and its parts share clock and power; 1: its persistence mode is off; 1: 2 "
            "processes compute on it");
  EXPECT_EQ(
      row.fix,
      "nvidia-smi -i 1 -pl 700; nvidia-smi -i 1 --reset-applications-clocks; use another GPU, and look at "
      "nvidia-smi -i 1 -q -d ECC; copies to and from the host are slower: check slot, riser and BIOS; leave "
      "its other parts idle, or nvidia-smi -i 1 -mig 0; nvidia-smi -i 1 -pm 1, or each process waits for "
      "the driver to start; end them, or choose another GPU with CUDA_VISIBLE_DEVICES");
}

TEST_F(Scripted, MemoryInUseRevealsHiddenProcesses) {
  const auto row = this->row("0 ComputeRunningProcesses none\n0 MemoryInfo_v2.used 5000000000\n");
  EXPECT_EQ(row.text, "0: 5.00 GB of its memory are in use by processes that are not visible here");
  EXPECT_EQ(this->row("0 ComputeRunningProcesses none\n0 MemoryInfo_v2.used 900000000\n").status,
            Verdict::kYes);
}

TEST_F(Scripted, RefusedReadingsAreMissingAndNoProblem) {
  const std::string lines = R"(
* PowerManagementLimit !3
* ApplicationsClock !3
* MaxClockInfo !4
* EccMode !3
* TotalEccErrors !3
* CurrPcieLinkWidth !999
* MigMode Absent
* PersistenceMode !3
* ComputeRunningProcesses !4
* MemoryInfo_v2.used !3
)";
  const auto gpu = read(lines).at(0);
  EXPECT_EQ(gpu.power_limit_w.reason(), "nvmlDeviceGetPowerManagementLimit: Not Supported");
  EXPECT_EQ(gpu.max_sm_mhz.reason(), "nvmlDeviceGetMaxClockInfo: Insufficient Permissions");
  EXPECT_EQ(gpu.mig.reason(), "this driver has no nvmlDeviceGetMigMode");
  EXPECT_FALSE(gpu.ecc || gpu.uncorrected_errors || gpu.pcie_width || gpu.persistence || gpu.processes);
  EXPECT_TRUE(problems_of(gpu, 0).empty());
  EXPECT_EQ(row(lines).text,
            "0: the driver does not report its state; 1: the driver does not report its state");
  EXPECT_TRUE(read_gpu_conditions("libpaceline-no-such.so.1").empty());
}

TEST_F(Scripted, NumbersThatStandForNoneAreMissing) {
  const auto gpu = read(
                       "* PowerManagementLimit 4294967295\n* MaxClockInfo 4294967295\n"
                       "* TotalEccErrors 18446744073709551615\n* MemoryInfo_v2.used 18446744073709551615\n")
                       .at(0);
  EXPECT_FALSE(gpu.power_limit_w || gpu.max_sm_mhz || gpu.uncorrected_errors || gpu.memory_used_bytes);
  EXPECT_EQ(in_words(gpu), "ECC on, PCIe x16");
  EXPECT_TRUE(problems_of(gpu, 0).empty());
}

TEST_F(Scripted, TheEnvironmentHasThemBesideEachGpu) {
  read("1 PowerManagementLimit 400000\n1 EccMode !3\n");
  EnvironmentSource source;
  source.files = tree_.files();
  source.binary = "/absent";
  source.nvml = FAKE_NVML;
  const auto gpus = capture_environment("paceline", source).at("nvidia").at("gpus");
  EXPECT_EQ(gpus.at(0).at("power_limit_w"), 700);
  EXPECT_EQ(gpus.at(0).at("ecc"), true);
  EXPECT_EQ(gpus.at(1).at("uuid"), "GPU-bb");
  EXPECT_EQ(gpus.at(1).at("power_limit_w"), 400);
  EXPECT_TRUE(gpus.at(1).at("ecc").is_null());
  EXPECT_EQ(gpus.at(1).at("ecc_reason"), "nvmlDeviceGetEccMode: Not Supported");
  EXPECT_EQ(gpus.at(1).at("pcie_width"), 16);
}

}  // namespace
}  // namespace paceline::host
