// SPDX-License-Identifier: MIT
// Checks of `validate` that start workers or other programs. `interrupt` outlives them, as `facts` does.
#pragma once
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "host/checks/checks.h"
#include "host/checks/load_test.h"
#include "host/checks/machine.h"

namespace paceline::run {

// A check for each plug-in: it is loaded in a worker process. When they run, its state and the versions of
// its libraries are added to `facts`.
std::vector<host::Check> plugin_checks(std::vector<host::Fact>& facts, const std::atomic<bool>& interrupt);

// Whether the driver fits the libraries of the plug-ins, which are in `facts` once their checks ran; and
// NVIDIA's profilers, whose versions are added to it.
std::vector<host::Check> software_checks(std::vector<host::Fact>& facts, const std::atomic<bool>& interrupt);
// A program of NVIDIA's on the PATH, else where toolkits are installed; empty: nowhere.
std::filesystem::path find_nsight(const std::string& program);

// The load test of this machine: core sets, then GPUs. Core sets that neighbours may have slowed down do not
// fail.
host::LoadTest load_machine(double seconds, const std::vector<host::LoadFigure>& expected,
                            const std::atomic<bool>& interrupt);

// Two ranks over gloo, as `comm --ranks 2` starts them, exchange the smallest message. Takes seconds.
host::CheckedRow round_trip(const std::atomic<bool>& interrupt);

}  // namespace paceline::run
