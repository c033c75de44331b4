// SPDX-License-Identifier: MIT
// Runs the part of one instance of several.
#pragma once
#include "measure/shared_queue.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// What one instance of several does (methodology: instances): loads, makes its first calls, and then serves
// whatever the queue brings, asleep between rounds. At the end its memory and its last outputs are reported.
void run_instance_pass(const pass::PassSpec& spec, TaggedSink& sink, measure::SharedQueue& queue);

}  // namespace paceline::workload
