// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <vector>

#include "host/checks/checks.h"
#include "host/checks/machine.h"

namespace paceline::run {

// A check for each plug-in: it is loaded in a worker process. When they run, its state and the versions of
// its libraries are added to `facts`, which outlives them, as `interrupt` does.
std::vector<host::Check> plugin_checks(std::vector<host::Fact>& facts, const std::atomic<bool>& interrupt);

}  // namespace paceline::run
