// SPDX-License-Identifier: MIT
#pragma once
#include <span>

#include "config/option_table.h"

// The groups of the option table, one source file each; use option_groups().
namespace paceline::config {

std::span<const Option> workload_rows();      // what runs
std::span<const Option> quantisation_rows();  // how a model becomes int8
std::span<const Option> load_rows();          // how work arrives
std::span<const Option> measuring_rows();     // how it is measured
std::span<const Option> training_rows();
std::span<const Option> data_rows();  // of training
std::span<const Option> rank_rows();  // where ranks run, checkpoints, faults
std::span<const Option> collective_rows();
std::span<const Option> plan_rows();     // plan level
std::span<const Option> export_rows();   // of the export command
std::span<const Option> build_rows();    // of the build command
std::span<const Option> command_rows();  // command line only

}  // namespace paceline::config
