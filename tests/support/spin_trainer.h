// SPDX-License-Identifier: MIT
// A trainer for tests of the tool itself: real ranks and real records, steps of a set time, no library.
#pragma once
#include <memory>

#include "plugin/trainer.h"

namespace paceline::test {

// It learns one number. Its loss depends on the seed, on the data of this rank and on the steps so far, and
// repeats exactly. From the environment:
//   SPIN_STEP_US  what it sleeps in a step (default 1000), half of it forward and half of it backward
//   SPIN_BF16_US  the same in bf16
//   SPIN_MARKS    a folder; a process writes a file there, named as its id, when it has made ten steps
//   SPIN_TENSOR_BYTES  what its tensors held of a device; twice as much is reserved
//   SPIN_LATE     1: it reports each step while the next is under way, as on a device of its own
std::unique_ptr<plugin::Trainer> make_spin_trainer();

}  // namespace paceline::test
