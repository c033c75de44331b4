// SPDX-License-Identifier: MIT
#include "workload/training/scoped_clock.h"

#include <gtest/gtest.h>

#include "pass/records.h"

namespace paceline::workload {
namespace {

using plugin::StepPhase;

// Writes scopes down as brackets.
class Brackets : public plugin::Profiler {
 public:
  void start() override {}
  void open(const std::string& scope) override { text += "(" + scope; }
  void close() override { text += ")"; }
  plugin::StepProfile stop(const std::string&) override { return {}; }
  std::string text;
};

void make_step(StepClock& clock, std::initializer_list<StepPhase> phases) {
  clock.begin();
  clock.input_here();
  for (const auto phase : phases) clock.enter(phase);
}

TEST(ScopedClock, EveryStepAndPartIsAScope) {
  Brackets profiler;
  ScopedClock clock(profiler, 3);
  make_step(clock, {StepPhase::kInput, StepPhase::kForward, StepPhase::kBackward, StepPhase::kOptimizer,
                    StepPhase::kEnd});
  EXPECT_EQ(profiler.text, "(step 3(data wait)(input)(forward)(backward)(optimizer))");
  EXPECT_GE(clock.times().step_ns, clock.times().data_wait_ns);
  profiler.text.clear();
  make_step(clock, {StepPhase::kInput, StepPhase::kEnd});
  EXPECT_EQ(profiler.text, "(step 4(data wait)(input))");
}

TEST(ScopedClock, CommunicationOfTheBackwardPassIsInsideIt) {
  Brackets profiler;
  ScopedClock clock(profiler, 0);
  make_step(clock, {StepPhase::kInput, StepPhase::kForward, StepPhase::kCommunication, StepPhase::kForward,
                    StepPhase::kBackward, StepPhase::kCommunication, StepPhase::kOptimizer, StepPhase::kEnd});
  EXPECT_EQ(
      profiler.text,
      "(step 0(data wait)(input)(forward)(communication)(forward)(backward(communication))(optimizer))");
}

TEST(Records, ProfiledStepsTravel) {
  result::ProfiledSteps steps;
  steps.source = "a profiler";
  steps.step_ns = {5, 7};
  auto& conv = steps.operators.emplace_back();
  conv.name = "conv", conv.calls = 3, conv.total_ns = 4.0;
  conv.self_ns = Number::missing("beside");
  pass::PassReport report;
  EXPECT_FALSE(std::holds_alternative<result::ProfiledSteps>(report.payload));
  pass::apply_record(report, pass::operators_record(steps));
  ASSERT_TRUE(std::holds_alternative<result::ProfiledSteps>(report.payload));
  EXPECT_EQ(report.get<result::ProfiledSteps>().step_ns, steps.step_ns);
  EXPECT_EQ(report.get<result::ProfiledSteps>().operators.at(0).self_ns.reason(), "beside");
}

}  // namespace
}  // namespace paceline::workload
