// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>

#include "pass/pass.h"
#include "plugin/engine.h"
#include "workload/inference/pass_parts.h"

// Checks whether an engine computes each time it is asked, instead of repeating an answer.
namespace paceline::workload {

// Overwrites the outputs, which are no longer needed, so that an engine that does not write them again is
// found out. Outputs that share memory with an input are left alone.
void poison(std::span<const TensorView> outputs, std::span<const TensorView> inputs);

// State after timing: the last outputs (empty: they are on a device), the inputs of the first batch that they
// belong to, and the typical time of an inference (0: not known).
struct TimedAnswers {
  std::span<const TensorView> outputs, inputs;
  double typical_ns = 0;
};

// Compares those outputs, then those of the same inputs after poisoning, then those of inputs that the engine
// has not seen in this process. An engine that takes far longer for the last repeats answers. Returns the
// first comparison that fails, else the last one. The engine stays bound to inputs that are gone.
result::Correctness verify_answers(const pass::PassSpec& spec, plugin::Engine& engine,
                                   const TimedAnswers& timed);

// Throws Error(kData) where what an engine read back is impossible: shares outside 0 to 1, shares that add up
// to more than the whole, negative counts.
void require_plausible(const plugin::ReadBack& read);

}  // namespace paceline::workload
