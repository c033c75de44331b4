// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>

#include "plugin/engine.h"
#include "workload/inference/pass_parts.h"
#include "workload/pass.h"

// Whether an engine computes each time it is asked, instead of repeating an answer.
namespace paceline::workload {

// Overwrites the outputs, which nobody needs any more: an engine that does not write one again is found out.
// Leaves those alone that share memory with an input.
void poison(std::span<const TensorView> outputs, std::span<const TensorView> inputs);

// What was timed: the last outputs (empty: they are on a device), the inputs of the first batch that they
// belong to, and how long the typical inference took (0: not known).
struct TimedAnswers {
  std::span<const TensorView> outputs, inputs;
  double typical_ns = 0;
};

// Compares those outputs; then again, poisoned, for the same inputs; then for inputs that the engine has not
// seen in this process. An engine that takes far longer for those repeats answers. The first comparison that
// fails, or the last one. The engine stays bound to inputs that are gone.
result::Correctness verify_answers(const PassSpec& spec, plugin::Engine& engine, const TimedAnswers& timed);

// Throws Error(kData) where what an engine read back cannot be: shares outside 0 to 1 or of more than the
// whole, negative counts.
void require_plausible(const plugin::ReadBack& read);

}  // namespace paceline::workload
