// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "host/checks/checks.h"
#include "host/checks/machine.h"

namespace paceline::cli {

// A check for each plug-in: it is loaded in a worker process. When they run, its state and the versions of
// its libraries are added to `facts`, which outlives them.
std::vector<host::Check> plugin_checks(std::vector<host::Fact>& facts);

}  // namespace paceline::cli
