// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "pass/pass.h"
#include "pass/records.h"

namespace paceline::workload {

// Times sleeps of spec.sleep_ns under the loop that times inferences: what it reports can be judged by a
// duration that is known. `interrupt` ends it between two sleeps; nothing is reported then.
void run_sleep_pass(const pass::PassSpec& spec, pass::RecordSink& raw, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
