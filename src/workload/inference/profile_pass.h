// SPDX-License-Identifier: MIT
#pragma once
#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// Times every layer under the engine's profiler, over the inferences of ProfileLayers with the first batch.
// Profiling slows an engine down: nothing else is measured in this process.
void run_profile_pass(const pass::PassSpec& spec, TaggedSink& sink);

}  // namespace paceline::workload
