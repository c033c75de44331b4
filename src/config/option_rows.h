// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "config/option.h"

// The groups of the option table, whose rows are in separate source files; use option_groups().
namespace paceline::config {

using enum OptionType;
using enum OptionForm;
using enum Shown;

// A row outside the identity of a case: how long and how exactly is measured, where results go, what is
// shown.
constexpr Option aside(Option option) {
  option.identity = false;
  return option;
}

// The names in a table that other layers share, as choices.
template <typename Row, std::size_t N>
constexpr std::array<Choice, N> choices_of(const std::array<Row, N>& rows) {
  std::array<Choice, N> choices;
  for (std::size_t i = 0; i < N; ++i) {
    choices[i].name = rows[i].name;
    if constexpr (requires { rows[i].available; }) choices[i].available = rows[i].available;
  }
  return choices;
}

inline constexpr std::array<Choice, 2> kLayouts{{{"contiguous"}, {"channels_last"}}};  // of memory

std::span<const Option> workload_rows();
std::span<const Option> quantisation_rows();
std::span<const Option> load_rows();
std::span<const Option> measuring_rows();
std::span<const Option> trained_model_rows();
std::span<const Option> world_rows();
std::span<const Option> training_rows();
std::span<const Option> data_rows();
std::span<const Option> rank_rows();  // where ranks run, checkpoints, faults
std::span<const Option> collective_rows();
std::span<const Option> plan_rows();
std::span<const Option> export_rows();
std::span<const Option> build_rows();
std::span<const Option> command_rows();
std::span<const Option> history_rows();
std::span<const Option> attach_rows();
std::span<const Option> tune_rows();

// Rows, and what those leave open that say nothing else.
struct GroupRow {
  std::string_view title;
  std::span<const Option> (*rows)();
  unsigned kinds;
  unsigned commands = kRunsCases;
};
inline constexpr std::string_view kDeclaredTitle = "Options of plug-ins";
inline constexpr std::array kGroups{
    GroupRow{"Workload", workload_rows, kInference},
    GroupRow{kDeclaredTitle, [] { return std::span<const Option>(); }, kInference},
    GroupRow{"Quantisation", quantisation_rows, kInference | kCommandLine, kRun | kInfer | kExport | kBuild},
    GroupRow{"Measurement", measuring_rows, kInference},
    GroupRow{"Load", load_rows, kInference},
    GroupRow{"Training model", trained_model_rows, kTraining},
    GroupRow{"World size", world_rows, kTraining},
    GroupRow{"Training", training_rows, kTraining},
    GroupRow{"Training data", data_rows, kTraining},
    GroupRow{"Ranks", rank_rows, kTraining},
    GroupRow{"Collectives", collective_rows, kind_bit(WorkloadKind::kCollective)},
    GroupRow{"Plan", plan_rows, kPlanLevel},
    GroupRow{"Model and file", export_rows, kCommandLine, kExport | kBuild},
    GroupRow{"Engine file", build_rows, kCommandLine, kBuild},
    GroupRow{"History", history_rows, kCommandLine, kHistory},
    GroupRow{"Attach", attach_rows, kCommandLine, kAttach},
    GroupRow{"Tune", tune_rows, kCommandLine, kTune},
    GroupRow{"Command", command_rows, kCommandLine},
};

// A spelling of an option, or several with commas, that the command of one kind has besides.
struct OwnFlags {
  std::string_view option, flags;
  bool of_each_process = false;  // the value is that of one process, where a launcher starts several
};
std::span<const OwnFlags> own_flags_of_train();
std::span<const OwnFlags> own_flags_of_comm();

struct KindFlags {
  WorkloadKind kind;
  std::span<const OwnFlags> (*flags)();
};
inline constexpr std::array kOwnFlags{KindFlags{WorkloadKind::kTraining, own_flags_of_train},
                                      KindFlags{WorkloadKind::kCollective, own_flags_of_comm}};

}  // namespace paceline::config
