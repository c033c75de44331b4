// SPDX-License-Identifier: MIT
// Waits for a quiet machine before a pass.
#pragma once
#include <atomic>

#include "config/plan.h"
#include "result/stored/case_result.h"
#include "run/case/observer.h"

namespace paceline::run {

// How long the machine is watched: a full window before a case's first repetition, a short one before others.
// kLook: for one short window, without waiting.
enum class QuietCheck { kFull, kShort, kLook };

// Waits until no others use the machine, at most as long as the case allows (host/noise/idle_gate.h).
// Returns at an interrupt. False: waiting was in vain.
bool wait_for_quiet(const config::Case& c, QuietCheck check, RunObserver& observer,
                    const std::atomic<bool>& interrupt);

// Whether others used no more in a timed window than wait_for_quiet() allows. False if unknown.
bool was_quiet(const result::Noise& window);

}  // namespace paceline::run
