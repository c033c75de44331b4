// SPDX-License-Identifier: MIT
// When the calls are made by which a profiler learns what is timed.
#include "workload/window/profiler_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace paceline::workload {
namespace {

using ::testing::ElementsAre;

TEST(ProfilerRange, BeginsAndEndsWithAnIdleDevice) {
  std::vector<std::string> calls;
  const auto call = [&](const char* name) { return [&calls, name] { return calls.emplace_back(name), 0; }; };
  MeasuredWindow window;
  window.add<ProfilerRange>(ProfilerCalls{call("synchronize"), call("start"), call("stop")});
  window.open();
  EXPECT_THAT(calls, ElementsAre("synchronize", "start"));
  window.close();
  EXPECT_THAT(calls, ElementsAre("synchronize", "start", "synchronize", "stop"));
}

TEST(ProfilerRange, WithoutCudaOrWithARefusalItIsAnError) {
  EXPECT_THROW(ProfilerRange(ProfilerCalls{}).open(), Error);
  const auto well = [] { return 0; };
  EXPECT_THROW(ProfilerRange(ProfilerCalls{well, [] { return 3; }, well}).open(), Error);
}

}  // namespace
}  // namespace paceline::workload
