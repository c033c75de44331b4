// SPDX-License-Identifier: MIT
#include "config/device.h"

#include <gtest/gtest.h>

namespace paceline::config {
namespace {

TEST(Device, HasOneSpellingEach) {
  EXPECT_EQ(canonical_device("cpu"), "cpu");
  EXPECT_EQ(canonical_device("cuda"), "cuda:0");
  EXPECT_EQ(canonical_device("cuda:0"), "cuda:0");
  EXPECT_EQ(canonical_device("cuda:12"), "cuda:12");
}

TEST(Device, AnythingElseIsNone) {
  for (const char* text :
       {"", "gpu", "cpu:1", "cuda:", "cuda:-1", "cuda:01", "cuda:1x", "cuda:1234", "cuda 1"})
    EXPECT_EQ(canonical_device(text), std::nullopt) << text;
}

TEST(Device, EnginesThatKnowGpusOnlyRunThereUnasked) {
  EXPECT_TRUE(runs_on_cpu("eager", "cpu"));
  EXPECT_FALSE(runs_on_cpu("eager", "cuda:1"));
  EXPECT_FALSE(runs_on_cpu("tensorrt", "cpu"));
}

}  // namespace
}  // namespace paceline::config
