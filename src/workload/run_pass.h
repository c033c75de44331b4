// SPDX-License-Identifier: MIT
// Runs one pass of any kind.
#pragma once
#include <atomic>

#include "pass/pass.h"
#include "pass/records.h"

namespace paceline::workload {

// Throws Error, and leaves the "failed" record to the caller.
void run_pass(const pass::PassSpec& spec, pass::RecordSink& sink, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
