// SPDX-License-Identifier: MIT
#include "config/device.h"

#include <gtest/gtest.h>

namespace paceline::config {
namespace {

TEST(Device, EnginesThatKnowGpusOnlyRunThereUnasked) {
  EXPECT_TRUE(runs_on_cpu("eager", Device{}));
  EXPECT_FALSE(runs_on_cpu("eager", Device{DeviceKind::kCuda, 1}));
  EXPECT_FALSE(runs_on_cpu("tensorrt", Device{}));
  EXPECT_FALSE(runs_on_cpu("eager", std::nullopt)) << "while auto is not settled";
}

}  // namespace
}  // namespace paceline::config
