// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// The timed pass of the scenarios closed_loop, offline and server: one engine a lane, side by side in this
// process.
void run_load_pass(const PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
