// SPDX-License-Identifier: MIT
#pragma once
#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// Times every layer over spec.profile_inferences inferences of the first batch, under the engine's profiler.
// Profiling slows an engine down: nothing else is measured in this process.
void run_profile_pass(const pass::PassSpec& spec, TaggedSink& sink);

}  // namespace paceline::workload
