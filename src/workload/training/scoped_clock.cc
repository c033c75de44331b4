// SPDX-License-Identifier: MIT
#include "workload/training/scoped_clock.h"

#include <array>
#include <string>

namespace paceline::workload {
namespace {

using plugin::StepPhase;

// In the order of StepPhase.
constexpr std::array<const char*, StepClock::kPhases> kParts{"input", "forward", "backward", "communication",
                                                             "optimizer"};

}  // namespace

void ScopedClock::begin() {
  profiler_.open(kStepScope + std::to_string(step_++));
  StepClock::begin();
  open("data wait");
}

void ScopedClock::input_here() {
  close_parts();
  StepClock::input_here();
}

// Communication that the backward pass waits for counts as part of that pass.
void ScopedClock::enter(StepPhase phase) {
  StepClock::enter(phase);
  const bool within = phase == StepPhase::kCommunication && phase_ == StepPhase::kBackward;
  if (!within) close_parts();
  phase_ = phase;
  if (phase == StepPhase::kEnd) return profiler_.close();
  open(kParts.at(static_cast<std::size_t>(phase)));
}

void ScopedClock::open(const char* part) {
  profiler_.open(part);
  ++open_;
}

void ScopedClock::close_parts() {
  for (; open_ > 0; --open_) profiler_.close();
}

}  // namespace paceline::workload
