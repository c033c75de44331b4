// SPDX-License-Identifier: MIT
// The command lines of nsys and ncu.
#include "nsight/tool_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace paceline::nsight {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

ToolRequest request(Tool tool) {
  return {tool, "/opt/tool", "/run/case", true, {}};
}

TEST(ToolCommand, SystemsRecordsTheRangeThatTheProgramMarks) {
  auto asked = request(Tool::kSystems);
  EXPECT_THAT(in_front(asked), Contains("--capture-range=cudaProfilerApi"));
  EXPECT_THAT(in_front(asked), Contains("--cuda-graph-trace=node"));
  EXPECT_THAT(in_front(asked), Contains("--output=/run/case/timeline.nsys-rep"));
  asked.waits = false;
  EXPECT_THAT(in_front(asked), Not(Contains("--capture-range=cudaProfilerApi")));
  EXPECT_THAT(exporting(asked),
              ElementsAre("/opt/tool", "export", "--type", "sqlite", "--force-overwrite", "true", "--output",
                          "/run/case/timeline.sqlite", "/run/case/timeline.nsys-rep"));
}

TEST(ToolCommand, ComputeCountsABoundedNumberOfKernels) {
  auto asked = request(Tool::kCompute);
  asked.kernels = {7, "gemm|conv", {}};
  const auto argv = in_front(asked);
  const auto behind = [&](const char* flag) { return *(std::ranges::find(argv, flag) + 1); };
  EXPECT_EQ(behind("--launch-count"), "7");
  EXPECT_EQ(behind("--kernel-name"), "regex:gemm|conv");
  EXPECT_EQ(behind("--profile-from-start"), "off");
  EXPECT_EQ(behind("--set"), "full");
  EXPECT_EQ(behind("--export"), "/run/case/kernels.ncu-rep");
  asked.kernels.sections = {"Occupancy", "SpeedOfLight"};
  EXPECT_THAT(in_front(asked), Not(Contains("--set")));
  EXPECT_EQ(std::ranges::count(in_front(asked), "--section"), 2);
}

TEST(ToolCommand, FlagsThatAHelpTextLacksAreNamed) {
  EXPECT_THAT(unknown_flags(Tool::kSystems, "--capture-range --capture-range-end --cuda-graph-trace"),
              IsEmpty());
  EXPECT_THAT(unknown_flags(Tool::kSystems, "--capture-range="),
              ElementsAre("--capture-range-end", "--cuda-graph-trace"));
  EXPECT_EQ(tool_named("ncu"), Tool::kCompute);
  EXPECT_THROW(tool_named("nvprof"), Error);
}

}  // namespace
}  // namespace paceline::nsight
