// SPDX-License-Identifier: MIT
#include "result/stored/operator_profile.h"

#include <gtest/gtest.h>

#include "result/stored/case_fields.h"

namespace paceline::result {
namespace {

OperatorRow row(const std::string& name, Number self, double total, std::int64_t calls = 2) {
  return {name, calls, std::move(self), total, Number::missing("no sum yet")};
}

ProfiledSteps two_steps() {
  ProfiledSteps steps;
  steps.source = "a profiler";
  steps.untimed_steps = 3;
  steps.step_ns = {90, 110};
  steps.parts = {row("forward", 10.0, 120), row("backward", 10.0, 60)};
  steps.operators = {row("conv", 100.0, 120), row("add", 60.0, 60),
                     row("all_reduce", Number::missing("it ran beside"), 500)};
  steps.outside_ns = 40;
  return steps;
}

TEST(OperatorProfile, SharesAreOfTheProfiledSteps) {
  auto steps = two_steps();
  const auto profile = summarize_operators(steps, 80.0);
  EXPECT_EQ(*profile.steps, 2);
  EXPECT_EQ(*profile.step_ns, 100);
  EXPECT_EQ(*profile.of_timed, 1.25);
  EXPECT_EQ(*profile.total_ns, 200);
  EXPECT_EQ(*profile.operators, 3);
  EXPECT_EQ(profile.top.at(0).name, "conv");
  EXPECT_EQ(*profile.top.at(0).share, 0.5);
  EXPECT_EQ(profile.top.at(2).share.reason(), "it ran beside");
  EXPECT_EQ(*profile.outside_share, 0.2);
  EXPECT_EQ(*profile.rest.self_ns, 0);
  EXPECT_EQ(*steps.operators[1].share, 0.3);
  EXPECT_FALSE(profile.on_device);
  steps = two_steps(), steps.on_device = true;
  EXPECT_TRUE(summarize_operators(steps, 80.0).on_device);
  EXPECT_EQ(*profile.parts.at(1).share, 0.05);
}

TEST(OperatorProfile, OperatorsBeyondTheTopAreAddedUp) {
  auto steps = two_steps();
  for (int i = 0; i < 20; ++i) steps.operators.push_back(row("small" + std::to_string(i), 0.5, 0.5, 3));
  const auto profile = summarize_operators(steps, Number::missing("nothing was timed"));
  EXPECT_EQ(profile.top.size(), kTopOperators);
  EXPECT_EQ(*profile.operators, 23);
  EXPECT_EQ(profile.rest.calls, 7 * 3 + 2);  // the one without a time of its own is among them
  EXPECT_EQ(*profile.rest.self_ns, 3.5);
  EXPECT_EQ(profile.of_timed.reason(), "nothing was timed");
  double sum = *profile.rest.share + *profile.outside_share;
  for (const auto& one : profile.top) sum += *one.share;
  EXPECT_NEAR(sum, (100 + 60 + 10 + 40) / 200.0, 1e-12);
}

TEST(OperatorProfile, NoStepIsNoProfile) {
  ProfiledSteps none;
  const auto profile = summarize_operators(none, 80.0);
  EXPECT_FALSE(profile.steps);
  EXPECT_FALSE(profile.step_ns);
  EXPECT_EQ(profile.reason, "no step was profiled");
}

TEST(OperatorProfile, AMissingTraceKeepsItsReason) {
  auto steps = two_steps();
  steps.no_trace = "no trace: built without Kineto";
  const auto profile = summarize_operators(steps, 80.0);
  EXPECT_TRUE(profile.steps);
  EXPECT_EQ(profile.reason, "no trace: built without Kineto");
}

TEST(OperatorProfile, FilesKeepEverything) {
  auto steps = two_steps();
  steps.operators[0].name = "at::native::copy<float, int>";
  const auto profile = summarize_operators(steps, 80.0);
  OperatorProfile back;
  Reader::read(Writer::write(profile), "profile", back);
  EXPECT_EQ(Writer::write(back), Writer::write(profile));
  EXPECT_EQ(back.top.at(2).self_ns.reason(), "it ran beside");
  EXPECT_EQ(operators_to_csv(steps.operators),
            "index,name,calls,self_ns,total_ns,share\n"
            "0,\"at::native::copy<float, int>\",2,100,120,0.5\n"
            "1,add,2,60,60,0.3\n"
            "2,all_reduce,2,,500,\n");
}

}  // namespace
}  // namespace paceline::result
