// SPDX-License-Identifier: MIT
#include "workload/training/scoped_clock.h"

#include <string>

namespace paceline::workload {

using plugin::StepPhase;

void ScopedClock::begin() {
  profiler_.open(kStepScope + std::to_string(step_++));
  StepClock::begin();
  open(result::StepPart::kDataWait);
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
  open(part_of(phase));
}

void ScopedClock::open(result::StepPart part) {
  profiler_.open(traits_of(part).scope);
  ++open_;
}

void ScopedClock::close_parts() {
  for (; open_ > 0; --open_) profiler_.close();
}

}  // namespace paceline::workload
