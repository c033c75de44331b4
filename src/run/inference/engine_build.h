// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "run/case/plugin_choice.h"
#include "run/inference/build_order.h"

// Models compiled ahead of time for one engine.
namespace paceline::run {

// In a process of its own. Throws Error naming the reason and the log, kUnavailable when the engine is not
// here; a file that was there before stays as it was then.
BuiltFile build_engine(const EngineDirectory& engines, const BuildOrder& order,
                       const std::atomic<bool>& interrupt);

}  // namespace paceline::run
