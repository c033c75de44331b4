// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "plugin/trainer.h"

namespace paceline::torch_test {

// The trainer on a device that reports every step one call late, as one that works on its own does. The CPU
// does the work, so that steps can be compared with those of the trainer on the CPU.
std::unique_ptr<plugin::Trainer> make_lagging_trainer();

}  // namespace paceline::torch_test
