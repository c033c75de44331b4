// SPDX-License-Identifier: MIT
// Where an option may stand: kinds of workloads, the plan, and the commands, as bits of an option's row.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/workload_kind.h"

namespace paceline::config {

using paceline::KindTraits;
using paceline::kWorkloadKinds;
using paceline::traits_of;
using paceline::WorkloadKind;

// Bits of Option::kinds.
constexpr unsigned kind_bit(WorkloadKind kind) {
  return 1U << static_cast<unsigned>(kind);
}
inline constexpr unsigned kInference = kind_bit(WorkloadKind::kInference),
                          kTraining = kind_bit(WorkloadKind::kTraining),
                          kCollective = kind_bit(WorkloadKind::kCollective),
                          kAnyKind = (1U << kWorkloadKinds.size()) - 1;
inline constexpr unsigned kRanked = [] {
  unsigned kinds = 0;
  for (const auto& row : kWorkloadKinds) kinds |= row.by_ranks ? kind_bit(row.kind) : 0;
  return kinds;
}();
inline constexpr unsigned kPlanLevel = 1U << 8;    // beside `workloads`, once per plan
inline constexpr unsigned kCommandLine = 1U << 9;  // of the command itself; alone: a flag without a plan key
static_assert(kAnyKind < kPlanLevel);

// Bits of Option::commands: commands that take flags. Plan options are for run and the command of their kind.
inline constexpr unsigned kRun = 1, kInfer = 2, kReport = 4, kValidate = 8, kSchema = 16, kExport = 32,
                          kBuild = 64, kTrain = 128, kComm = 256, kMonitor = 1024;
// Options that profile has beside those of train, or of infer; its flags are read as kTrain | kProfile, those
// behind the word infer as kInfer | kProfile.
inline constexpr unsigned kProfile = 512;

inline constexpr std::size_t kAnyNumber = 1'000'000;

// Spellings of an option, comma-separated, that one command has besides.
struct OwnFlags {
  std::string_view option, flags;
};
std::span<const OwnFlags> own_flags_of_train(), own_flags_of_comm();

struct CommandRow {
  unsigned bits;
  std::string_view name;
  unsigned kinds = 0;          // of the cases that it runs; 0: it runs none
  std::size_t most_words = 0;  // that it accepts without a flag; with one it is a plan
  std::span<const OwnFlags> (*own_flags)() = [] { return std::span<const OwnFlags>(); };
  bool own_letters = false;  // its single letters are its own flags, and those of every command
};
// The first one is suggested where several take a flag.
inline constexpr std::array kFlagCommands{CommandRow{kInfer, "infer", kInference},
                                          CommandRow{kTrain, "train", kTraining, 1, own_flags_of_train},
                                          CommandRow{kComm, "comm", kCollective, 0, own_flags_of_comm, true},
                                          CommandRow{kRun, "run", kAnyKind, 1},
                                          CommandRow{kReport, "report", 0, kAnyNumber},
                                          CommandRow{kBuild, "build"},
                                          CommandRow{kExport, "export"},
                                          CommandRow{kValidate, "validate"},
                                          CommandRow{kMonitor, "monitor"},
                                          CommandRow{kSchema, "schema", 0, kAnyNumber},
                                          CommandRow{kTrain | kProfile, "profile", kTraining, 1},
                                          CommandRow{kInfer | kProfile, "profile infer", kInference}};

// The commands that run cases of some kinds.
constexpr unsigned commands_of(unsigned kinds) {
  unsigned commands = 0;
  for (const auto& row : kFlagCommands)
    if ((row.kinds & kinds) != 0) commands |= row.bits & ~kProfile;
  return commands;
}
inline constexpr unsigned kRunsCases = commands_of(kAnyKind), kRunsRanks = commands_of(kRanked);
inline constexpr unsigned kAnyCommand = [] {
  unsigned commands = 0;
  for (const auto& row : kFlagCommands) commands |= row.bits & ~kProfile;
  return commands;
}();

// Null for a mask of several commands.
constexpr const CommandRow* find_command_row(unsigned bits) {
  for (const auto& row : kFlagCommands)
    if (row.bits == bits) return &row;
  return nullptr;
}

// Left open in a row: as its group has it.
inline constexpr unsigned kOfGroup = 1U << 31;

}  // namespace paceline::config
