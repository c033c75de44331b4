// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "workload/pass.h"
#include "workload/records.h"

namespace paceline::workload {

// Runs one pass of any kind; throws Error, and leaves the "failed" record to the caller.
void run_pass(const PassSpec& spec, RecordSink& sink, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
