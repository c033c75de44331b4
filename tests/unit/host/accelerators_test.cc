// SPDX-License-Identifier: MIT
#include "host/machine/accelerators.h"

#include <gtest/gtest.h>

#include "fake_tree.h"

namespace paceline::host {
namespace {

TEST(Accelerators, NothingInDevMeansNoGpu) {
  const FakeTree tree;
  EXPECT_NE(no_nvidia_device_reason(tree.files()).find("no NVIDIA GPU here"), std::string::npos);
}

TEST(Accelerators, ADriverWithoutDevicesIsAContainerWithoutAccess) {
  FakeTree tree;
  tree.file("proc/driver/nvidia/version", "NVRM version: 580");
  EXPECT_NE(no_nvidia_device_reason(tree.files()).find("container"), std::string::npos);
}

TEST(Accelerators, ASignIsEnoughAndTheDriverHasTheWord) {
  for (const char* sign : {"dev/nvidiactl", "dev/nvidia0", "dev/dxg", "dev/nvhost-gpu"}) {
    FakeTree tree;
    tree.file(sign, "");
    EXPECT_EQ(no_nvidia_device_reason(tree.files()), "") << sign;
  }
}

TEST(Accelerators, GpusThatAreHiddenFromCudaAreAbsent) {
  FakeTree tree;
  tree.file("dev/nvidiactl", "");
  for (const char* visible : {"", " ", "-1", "-1,0"})
    EXPECT_EQ(
        no_visible_device_reason(tree.files(), visible),
        std::string("CUDA_VISIBLE_DEVICES='") + visible + "' hides every GPU; unset it, or use device: cpu");
  for (const char* visible : {"0", "1,0", "GPU-8a56a4bc", "MIG-1"})
    EXPECT_EQ(no_visible_device_reason(tree.files(), visible), "") << visible;
  EXPECT_EQ(no_visible_device_reason(tree.files(), std::nullopt), "");
  EXPECT_NE(no_visible_device_reason(FakeTree().files(), "0").find("no NVIDIA GPU here"), std::string::npos);
}

}  // namespace
}  // namespace paceline::host
