// SPDX-License-Identifier: MIT
// Words that `profile --tool` adds to a command line, and those it refuses.
#include "cli/profile/nsight_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/profile/nsight_profile.h"
#include "config/flags.h"
#include "config/option_places.h"

namespace paceline::cli {
namespace {

std::string value_of(const config::FlagSet& flags, std::string_view name) {
  const auto found = std::ranges::find(flags.settings, name, &config::RawSetting::name);
  return found == flags.settings.end() ? "" : found->values.front().text;
}
config::FlagSet with(const std::vector<std::string>& words, unsigned command) {
  return with_tool(config::parse_flags(words, command | config::kProfile));
}

TEST(WithTool, LimitsTheTimedPartAndLeavesOutTheRest) {
  const auto infer = with({"--tool", "ncu", "--model", "resnet50"}, config::kInfer);
  EXPECT_EQ(value_of(infer, "iterations"), "2");
  EXPECT_EQ(value_of(infer, "accuracy.check"), "off");
  EXPECT_EQ(value_of(infer, "repetitions"), "1");
  const auto train = with({"--tool", "nsys"}, config::kTrain);
  EXPECT_EQ(value_of(train, "benchmark.measure_steps"), "10");
  EXPECT_EQ(value_of(train, "profiling.enabled"), "");  // PyTorch's profiler holds CUPTI
  EXPECT_EQ(value_of(with({"--tool", "nsys", "--iterations", "7"}, config::kInfer), "iterations"), "7");
}

TEST(WithTool, RefusesWhatItCannotFollow) {
  EXPECT_THROW(with({"--tool", "nsys", "--duration", "3s"}, config::kTrain), Error);
  EXPECT_THROW(with({"--tool", "nsys", "--kernel-name", "gemm"}, config::kTrain), Error);
  EXPECT_THROW(with({"--tool", "ncu", "--layer-profile"}, config::kInfer), Error);
}

TEST(Nccl, ATimelineOfRanksWithoutItsKernelsIsAnError) {
  NsightStudy study;
  EXPECT_THROW(require_nccl(study, "t"), Error);
  study.nccl_kernels = 1;
  EXPECT_NO_THROW(require_nccl(study, "t"));
}

}  // namespace
}  // namespace paceline::cli
