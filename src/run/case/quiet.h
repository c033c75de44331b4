// SPDX-License-Identifier: MIT
// Waits for a quiet machine before a pass.
#pragma once
#include <atomic>

#include "config/plan.h"
#include "run/case/observer.h"

namespace paceline::run {

// How long the machine is watched: a full window before a case's first repetition, a short one before others.
enum class QuietCheck { kFull, kShort };

// Waits until nobody else uses the machine, at most as long as the case allows (host/idle_gate.h). Returns at
// an interrupt.
void wait_for_quiet(const config::Case& c, QuietCheck check, RunObserver& observer,
                    const std::atomic<bool>& interrupt);

}  // namespace paceline::run
