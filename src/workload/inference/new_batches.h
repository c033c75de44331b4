// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "pass/pass.h"
#include "plugin/engine.h"
#include "result/stored/case_result.h"

namespace paceline::workload {

// Times the first and the second inference of each of the spec's new batches in the loaded engine, binding
// included. What an engine refuses has the reason instead.
std::vector<result::NewBatch> time_new_batches(const pass::PassSpec& spec, plugin::Engine& engine);

}  // namespace paceline::workload
