// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>

#include "base/exit_code.h"
#include "cli/context.h"
#include "cluster/launch_place.h"
#include "config/plan.h"
#include "run/run_setup.h"

// A run of which this process is one of several (docs/clusters.md).
namespace paceline::cli {

// From --nnodes and its companions, else from a launcher's variables; nullopt: this process runs alone.
// Throws Error(kUsage) or Error(kConfig).
std::optional<cluster::LaunchPlace> launch_place(const config::FlagSet& flags,
                                                 const config::Settings& options);

// A command line that does not say how many ranks means all that were launched.
config::FlagSet with_world_of(const cluster::LaunchPlace& place, config::FlagSet flags);

bool any_training(const std::vector<config::Case>& cases);

// Opens the store, calls the roll, and does `work` with the launch in its setup. What ended the ranks of this
// process is told to torchrun in its error file; one that ended because of a peer leaves after it, so that
// the launcher names the right one.
ExitCode run_launched(const cluster::LaunchPlace& place, run::RunSetup setup,
                      const std::function<ExitCode(const run::RunSetup&)>& work);

}  // namespace paceline::cli
