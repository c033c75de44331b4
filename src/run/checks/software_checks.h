// SPDX-License-Identifier: MIT
// Checks of NVIDIA's software: whether the driver fits the libraries of the plug-ins, and the profilers.
#pragma once
#include <atomic>
#include <vector>

#include "host/checks/checks.h"
#include "host/checks/machine.h"

namespace paceline::run {

// They run after those of the plug-ins, whose libraries are in `facts` then. The versions of the profilers
// are added to it.
std::vector<host::Check> software_checks(std::vector<host::Fact>& facts, const std::atomic<bool>& interrupt);

}  // namespace paceline::run
