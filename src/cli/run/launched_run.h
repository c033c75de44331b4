// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <set>

#include "base/exit_code.h"
#include "cli/context.h"
#include "cli/run/launch_start.h"
#include "cluster/launch_place.h"
#include "config/plan.h"
#include "run/case/run_setup.h"

// A run in which this process is one of several (docs/clusters.md).
namespace paceline::cli {

// From --nnodes and its companions, else from a launcher's variables; nullopt: this process runs alone.
// Throws Error(kUsage) or Error(kConfig).
std::optional<cluster::LaunchPlace> launch_place(const config::FlagSet& flags,
                                                 const config::Settings& options);

// Workloads that do not say their number of ranks take all that were launched. A flag that counts
// those of each process: Error(kUsage) where a process of the launch has another number of ranks.
config::FlagSet with_world_of(const cluster::LaunchPlace& place, config::FlagSet flags);

// Error(kUsage) where the largest case to run (`only`: ids, empty: all) has not as many ranks as the launch.
void check_launched_world(const cluster::LaunchPlace& place, const config::FlagSet& flags,
                          const std::vector<config::Case>& cases, const std::set<std::string>& only);

// Inference runs in one process, which measures for all devices. Error(kUsage) where a launch has several:
// for a plan without ranks, and for a command that has none.
void refuse_ranks_of_one_process(const cluster::LaunchPlace& place);
void refuse_launch_of_inference(const config::FlagSet& flags);

// Error(kUsage) for options that say where ranks run, where a plan has none.
void refuse_rank_options(const config::FlagSet& flags);

bool any_by_ranks(const std::vector<config::Case>& cases);

// Opens the store, calls the roll, and calls `work` with the launch in its setup. Waits are told on `console`
// after some seconds. The reason why ranks of
// this process ended is written to torchrun's error file. A process that ended because of a peer exits after
// that peer, so that the launcher names the right one.
ExitCode run_launched(LaunchStart& start, run::RunSetup setup, const Console& console,
                      const std::function<ExitCode(const run::RunSetup&)>& work);

}  // namespace paceline::cli
