// SPDX-License-Identifier: MIT
// Places of an option: kinds of workloads, the plan, and the commands, as bits of an option's row.
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
constexpr unsigned command_of(WorkloadKind kind) {
  return kind_bit(kind) << 16;
}
inline constexpr unsigned kInfer = command_of(WorkloadKind::kInference),
                          kTrain = command_of(WorkloadKind::kTraining);
inline constexpr unsigned kRun = 1, kReport = 2, kValidate = 4, kSchema = 8, kExport = 16, kBuild = 32,
                          kMonitor = 64, kHistory = 512, kAttach = 1024;
// Options that profile has beside those of train, or of infer; its flags are read as kTrain | kProfile, those
// behind the word infer as kInfer | kProfile.
inline constexpr unsigned kProfile = 128;
inline constexpr unsigned kCompare = 256;
// Its further words are those of infer or train.
inline constexpr unsigned kTune = 2048;

inline constexpr std::size_t kAnyNumber = 1'000'000;

struct CommandRow {
  unsigned bits = 0;
  std::string_view name{};
  unsigned kinds = 0;          // of the cases that it runs; 0: it runs none
  std::size_t most_words = 0;  // that it accepts without a flag; with one it is a plan
  bool own_letters = false;    // its single letters are its own flags, and those of every command
};
// The first one is suggested where several take a flag.
inline constexpr auto kFlagCommands = [] {
  constexpr std::array kOthers{CommandRow{kRun, "run", kAnyKind, 1},
                               CommandRow{kReport, "report", 0, kAnyNumber},
                               CommandRow{kCompare, "compare", 0, kAnyNumber},
                               CommandRow{kTune, "tune"},
                               CommandRow{kBuild, "build"},
                               CommandRow{kExport, "export"},
                               CommandRow{kValidate, "validate"},
                               CommandRow{kMonitor, "monitor"},
                               CommandRow{kAttach, "attach", 0, kAnyNumber},
                               CommandRow{kHistory, "history", 0, kAnyNumber},
                               CommandRow{kSchema, "schema", 0, kAnyNumber},
                               CommandRow{kTrain | kProfile, "profile", kTraining, 1},
                               CommandRow{kInfer | kProfile, "profile infer", kInference}};
  std::array<CommandRow, kWorkloadKinds.size() + kOthers.size()> rows{};
  auto* row = rows.data();
  for (const auto& one : kWorkloadKinds)
    *row++ = {command_of(one.kind), one.command.name, kind_bit(one.kind), one.command.most_words,
              one.command.own_letters};
  for (const auto& other : kOthers) *row++ = other;
  return rows;
}();

// Two commands of one bit would take each other's flags.
static_assert([] {
  unsigned seen = kProfile;
  for (const auto& row : kFlagCommands) {
    if ((row.bits & kProfile) != 0) continue;  // reads the flags of another one, too
    if ((row.bits & seen) != 0) return false;
    seen |= row.bits;
  }
  return true;
}());

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
