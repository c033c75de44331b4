// SPDX-License-Identifier: MIT
#include "host/accelerators.h"

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

}  // namespace
}  // namespace paceline::host
