// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "base/declared_input.h"
#include "run/case/plugin_choice.h"

namespace paceline::run {

// Asks an engine, in a worker, which inputs a model file has. Throws Error with the reason where the engine
// is not available, cannot say, or has not said within `timeout_s`.
std::vector<DeclaredInput> file_inputs(const EngineDirectory& engines, const std::string& engine,
                                       const std::string& file, const std::vector<std::string>& libraries,
                                       double timeout_s, const std::atomic<bool>& interrupt);

}  // namespace paceline::run
