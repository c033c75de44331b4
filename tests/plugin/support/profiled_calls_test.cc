// SPDX-License-Identifier: MIT
#include "support/profiled_calls.h"

#include <gtest/gtest.h>

namespace paceline::plugin_support {
namespace {

ProfiledCall call(const std::string& name, std::int64_t start, std::int64_t end, std::uint64_t thread = 1) {
  return {.name = name, .thread = thread, .start_ns = start, .end_ns = end};
}
ProfiledCall scope(const std::string& name, std::int64_t start, std::int64_t end) {
  return {.name = name, .thread = 1, .start_ns = start, .end_ns = end, .scope = true};
}

ProfiledCall numbered(ProfiledCall one, std::uint64_t number) {
  one.number = number;
  return one;
}
ProfiledCall kernel(const std::string& name, std::int64_t start, std::int64_t end, std::uint64_t started_by,
                    std::uint64_t stream = 7) {
  auto one = call(name, start, end, stream);
  one.on_device = true;
  one.started_by = started_by;
  return one;
}

const plugin::ProfiledTime& row(const std::vector<plugin::ProfiledTime>& rows, const std::string& name) {
  for (const auto& one : rows)
    if (one.name == name) return one;
  throw std::out_of_range(name);
}

double self_sum(const plugin::StepProfile& profile) {
  double sum = 0;
  for (const auto* rows : {&profile.scopes, &profile.operators})
    for (const auto& one : *rows) sum += one.self_ns.value_or(0);
  return sum;
}

TEST(ProfiledCalls, TimeOfNestedCallsIsNotTheirCallers) {
  const auto profile = profile_of({scope("step", 0, 100), scope("forward", 10, 60), call("conv", 20, 50),
                                   call("pad", 25, 30), call("gemm", 30, 45), call("relu", 50, 58)});
  EXPECT_EQ(row(profile.operators, "conv").total_ns, 30);
  EXPECT_EQ(row(profile.operators, "conv").self_ns, 10);
  EXPECT_EQ(row(profile.operators, "gemm").self_ns, 15);
  EXPECT_EQ(row(profile.scopes, "forward").self_ns, 12);
  EXPECT_EQ(row(profile.scopes, "step").self_ns, 50);
  EXPECT_EQ(self_sum(profile), 100);
  EXPECT_EQ(profile.operators.front().name, "gemm");
  EXPECT_EQ(profile.scopes.front().name, "step");
}

TEST(ProfiledCalls, CallsOfOneNameAreOneRow) {
  const auto profile = profile_of({call("add", 30, 40), call("mul", 10, 30), call("add", 0, 10)});
  EXPECT_EQ(profile.operators.size(), 2U);
  EXPECT_EQ(row(profile.operators, "add").calls, 2);
  EXPECT_EQ(row(profile.operators, "add").total_ns, 20);
}

TEST(ProfiledCalls, ACallInsideItsLikeIsNotCountedTwice) {
  const auto profile = profile_of({call("copy", 0, 50), call("copy", 10, 30)});
  EXPECT_EQ(row(profile.operators, "copy").calls, 2);
  EXPECT_EQ(row(profile.operators, "copy").total_ns, 50);
  EXPECT_EQ(row(profile.operators, "copy").self_ns, 50);
}

TEST(ProfiledCalls, WorkOnOtherThreadsHasNoTimeOfItsOwn) {
  auto reduce = call("all_reduce", 15, 90);
  reduce.beside = true;
  const auto profile = profile_of({scope("step", 0, 100), call("backward", 10, 40), reduce});
  EXPECT_EQ(row(profile.operators, "all_reduce").total_ns, 75);
  EXPECT_FALSE(row(profile.operators, "all_reduce").self_ns);
  EXPECT_EQ(row(profile.operators, "backward").self_ns, 30);
  EXPECT_EQ(self_sum(profile), 100);
  EXPECT_EQ(profile.operators.back().name, "all_reduce");
}

TEST(ProfiledCalls, ThreadsAreApart) {
  const auto profile = profile_of({call("a", 0, 100), call("b", 10, 60, 2), call("c", 20, 50, 2)});
  EXPECT_EQ(row(profile.operators, "a").self_ns, 100);
  EXPECT_EQ(row(profile.operators, "b").self_ns, 20);
}

// Clocks of two threads, rounding: a call that seems to end after the one around it.
TEST(ProfiledCalls, NothingIsCountedTwiceWhereCallsCross) {
  const auto profile = profile_of({call("a", 0, 20), call("b", 10, 25), call("c", 25, 40)});
  EXPECT_EQ(row(profile.operators, "a").self_ns, 10);
  EXPECT_EQ(row(profile.operators, "b").self_ns, 10);
  EXPECT_EQ(row(profile.operators, "c").self_ns, 15);
}

TEST(ProfiledCalls, AScopeAndAnOperatorOfOneNameAreTwo) {
  const auto profile = profile_of({scope("forward", 0, 20), call("forward", 5, 15)});
  EXPECT_EQ(profile.scopes.size(), 1U);
  EXPECT_EQ(profile.operators.size(), 1U);
  EXPECT_TRUE(profile_of({}).operators.empty());
}

// The forward pass on one thread hands work over, the backward pass on another while the first one waits.
TEST(ProfiledCalls, OnADeviceTheTimeIsTheDevicesAndCountsForWhoHandedItOver) {
  const auto profile =
      profile_of({scope("step", 0, 100), call("backward", 40, 95), numbered(call("conv", 0, 10), 1),
                  numbered(call("cudnn_conv", 2, 8), 2), numbered(call("conv_grad", 45, 90, 2), 3),
                  kernel("sgemm", 20, 50, 2), kernel("dgrad", 50, 80, 3), kernel("wgrad", 60, 90, 3, 8),
                  kernel("memset", 95, 97, 0)});
  EXPECT_EQ(row(profile.operators, "cudnn_conv").self_ns, 30);
  EXPECT_EQ(row(profile.operators, "conv_grad").self_ns, 60);
  EXPECT_EQ(row(profile.operators, "memset").self_ns, 2) << "nobody is known to have started it";
  EXPECT_FALSE(row(profile.operators, "conv").self_ns) << "what it called handed the work over";
  EXPECT_FALSE(row(profile.operators, "backward").self_ns) << "it only waited";
  EXPECT_EQ(profile.operators.front().name, "conv_grad");
  EXPECT_EQ(profile.operators.size(), 5U)
      << "kernels have no rows of their own beside those who started them";
  EXPECT_EQ(profile.device_busy_ns, 72) << "two streams at work are one device at work";
}

TEST(ProfiledCalls, CallsThatLaunchWorkAreNoOperators) {
  auto launch = call("cudaLaunchKernel", 2, 4);
  launch.launches = true;
  const auto profile = profile_of({call("conv", 0, 10), launch});
  EXPECT_EQ(profile.operators.size(), 1U);
  EXPECT_EQ(row(profile.operators, "conv").self_ns, 10);
}

TEST(ProfiledCalls, WithoutADeviceNothingIsSaidOfOne) {
  EXPECT_FALSE(profile_of({call("conv", 0, 10)}).device_busy_ns);
}

}  // namespace
}  // namespace paceline::plugin_support
