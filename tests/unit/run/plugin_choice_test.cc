// SPDX-License-Identifier: MIT
#include "run/case/plugin_choice.h"

#include <gtest/gtest.h>

namespace paceline::run {
namespace {

const plugin::Manifest kCpu{"torch", "torch.so", {"eager", "torchscript"}, {}, "", ""};
const plugin::Manifest kCuda{"cuda", "cuda.so", {"eager"}, {}, "", "", "cuda"};
const plugin::Manifest kNoCuda{"cuda", "", {"eager"}, {}, "no CUDA toolkit found", "install it", "cuda"};

TEST(PluginChoice, TheDeviceDecidesBetweenPluginsWithTheSameEngine) {
  const EngineDirectory both({kCuda, kCpu}, {});
  EXPECT_EQ(both.find("eager").file, "torch.so");
  EXPECT_EQ(both.find("eager", "cuda:0").file, "cuda.so");
  EXPECT_EQ(both.find("eager", "cuda:9").file, "cuda.so");  // how many there are, the plug-in knows
}

TEST(PluginChoice, APluginForAnyDeviceAnswersForItself) {
  const plugin::Manifest any{"tensorrt", "rt.so", {"tensorrt"}, {}, "", "", "any"};
  const EngineDirectory engines({any}, {});
  EXPECT_EQ(engines.find("tensorrt").file, "rt.so");
  EXPECT_EQ(engines.find("tensorrt", "cuda:1").file, "rt.so");
}

TEST(PluginChoice, SaysWhereAnEngineRunsInstead) {
  const EngineDirectory both({kCuda, kCpu}, {});
  const auto home = both.find("torchscript", "cuda:1");
  EXPECT_TRUE(home.file.empty());
  EXPECT_EQ(home.unavailable, "engine 'torchscript' does not run on cuda:1 here; it does on: cpu");
}

TEST(PluginChoice, SaysWhyThePluginOfADeviceIsNotBuilt) {
  const EngineDirectory none({kNoCuda, kCpu}, {});
  EXPECT_EQ(none.find("eager", "cuda:0").unavailable,
            "engine 'eager' needs the cuda plug-in, which is not built: no CUDA toolkit found; to get it: "
            "install it");
  EXPECT_EQ(none.find("eager").file, "torch.so");
}

TEST(PluginChoice, APluginOfTheUsersAnswersForItself) {
  const EngineDirectory mine({kCpu}, {{"mine.so", {"eager"}}});
  EXPECT_EQ(mine.find("eager", "cuda:0").file, "mine.so");
}

}  // namespace
}  // namespace paceline::run
