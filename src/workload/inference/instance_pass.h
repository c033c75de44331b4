// SPDX-License-Identifier: MIT
#pragma once
#include "measure/shared_queue.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// What instance `index` of spec.load.instances is told: its part of the CPUs and, where instances have
// devices of their own, which one. A device that is not there is refused by the engine, which counts them.
PassSpec spec_of_instance(const PassSpec& spec, std::int64_t index);

// What one instance of several does (methodology: instances): loads, makes its first calls, and then serves
// whatever the queue brings, asleep between rounds. At the end its memory and its last outputs are reported.
void run_instance_pass(const PassSpec& spec, TaggedSink& sink, measure::SharedQueue& queue);

}  // namespace paceline::workload
