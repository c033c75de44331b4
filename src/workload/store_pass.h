// SPDX-License-Identifier: MIT
// The pass that keeps the store of a launch open (run/ranks/store_process.h).
#pragma once
#include "pass/pass.h"

namespace paceline::workload {

// Opens the store and answers questions from kExtraFd until the other end is closed.
void serve_store(const pass::PassSpec& spec);

}  // namespace paceline::workload
