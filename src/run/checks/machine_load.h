// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <vector>

#include "host/checks/load_test.h"

namespace paceline::run {

// The load test of this machine: core sets, then GPUs. Core sets that neighbours may have slowed down do not
// fail.
host::LoadTest load_machine(double seconds, const std::vector<host::LoadFigure>& expected,
                            const std::atomic<bool>& interrupt);

}  // namespace paceline::run
