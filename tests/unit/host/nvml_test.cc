// SPDX-License-Identifier: MIT
#include "host/machine/nvml.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "host/machine/environment.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

TEST(Nvml, TellsDriverAndGpus) {
  const auto driver = read_nvidia_driver(FAKE_NVML);
  EXPECT_EQ(*driver.version, "580.65.06");
  EXPECT_EQ(*driver.cuda_version, "13.0");
  ASSERT_EQ(driver.gpus.size(), 2U);
  EXPECT_EQ(*driver.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(*driver.gpus[0].uuid, "GPU-aa");
  EXPECT_EQ(*driver.gpus[0].memory_bytes, 150'754'820'096);
  EXPECT_EQ(*driver.gpus[0].pci_bus_id, "0000:1b:00.0");
  EXPECT_EQ(*driver.gpus[1].pci_bus_id, "0000:cf:00.0");
  EXPECT_EQ(driver.gpus[1].memory_bytes.reason(), "nvmlDeviceGetMemoryInfo: Not Supported");
}

TEST(Nvml, ALibraryThatIsNotThereIsTheReason) {
  const auto driver = read_nvidia_driver("libpaceline-no-such.so.1");
  EXPECT_FALSE(driver.version);
  EXPECT_NE(driver.version.reason().find("libpaceline-no-such.so.1: cannot open shared object"),
            std::string::npos)
      << driver.version.reason();
  EXPECT_TRUE(driver.gpus.empty());
}

TEST(Nvml, SoIsOneThatDoesNotStart) {
  ::setenv("FAKE_NVML_INIT", "18", 1);
  const auto driver = read_nvidia_driver(FAKE_NVML);
  ::unsetenv("FAKE_NVML_INIT");
  EXPECT_EQ(driver.version.reason(), "nvmlInit_v2: Driver/library version mismatch");
  EXPECT_EQ(driver.cuda_version.reason(), driver.version.reason());
  EXPECT_EQ(read_nvidia_driver("libm.so.6").version.reason(), "this driver has no nvmlInit_v2");
}

TEST(Nvml, ASensorTellsTheClockAndWhatKeepsItDown) {
  const GpuSensor cool("GPU-aa", FAKE_NVML), hot("GPU-bb", FAKE_NVML);
  EXPECT_EQ(*cool.now().sm_mhz, 1980);
  EXPECT_EQ(*cool.now().slowed_by, "");
  EXPECT_EQ(*hot.now().sm_mhz, 1410);
  EXPECT_EQ(*hot.now().slowed_by, "thermal slowdown");
}

TEST(Nvml, ASensorOfNoGpuSaysWhy) {
  EXPECT_EQ(GpuSensor("MIG-1", FAKE_NVML).now().sm_mhz.reason(), "nvmlDeviceGetHandleByUUID: Unknown Error");
  EXPECT_FALSE(GpuSensor("GPU-aa", "libpaceline-no-such.so.1").now().slowed_by);
}

EnvironmentSource machine(const FakeTree& tree) {
  EnvironmentSource source;
  source.files = tree.files();
  source.binary = "/absent";
  source.nvml = FAKE_NVML;
  return source;
}

TEST(Nvml, TheEnvironmentHoldsIt) {
  FakeTree tree;
  tree.file("dev/nvidiactl", "");
  const auto nvidia = capture_environment("paceline", machine(tree)).at("nvidia");
  EXPECT_EQ(nvidia.at("driver_version"), "580.65.06");
  EXPECT_EQ(nvidia.at("newest_cuda"), "13.0");
  EXPECT_EQ(nvidia.at("gpus").at(1).at("uuid"), "GPU-bb");
  EXPECT_TRUE(nvidia.at("gpus").at(1).at("memory_bytes").is_null());
  EXPECT_EQ(nvidia.at("gpus").at(1).at("memory_bytes_reason"), "nvmlDeviceGetMemoryInfo: Not Supported");
}

TEST(Nvml, IsNotAskedWhereThereIsNoGpu) {
  const FakeTree tree;
  const auto nvidia = capture_environment("paceline", machine(tree)).at("nvidia");
  EXPECT_TRUE(nvidia.at("driver_version").is_null());
  EXPECT_NE(nvidia.at("driver_version_reason").get<std::string>().find("no NVIDIA GPU here"),
            std::string::npos);
  EXPECT_TRUE(nvidia.at("gpus").empty());
}

}  // namespace
}  // namespace paceline::host
