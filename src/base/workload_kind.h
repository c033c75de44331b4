// SPDX-License-Identifier: MIT
// The kinds of workload: one row per kind, which callers ask.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace paceline {

enum class WorkloadKind : std::uint8_t { kInference, kTraining, kCollective };

// The command that runs cases of a kind from flags.
struct KindCommand {
  std::string_view name;
  std::string_view usage;      // after the name
  std::string_view summary;    // in lists of commands
  std::size_t most_words = 0;  // that it accepts without a flag; with one it is a plan
  bool own_letters = false;    // its single letters are its own flags, and those of every command
};

struct KindTraits {
  WorkloadKind kind;
  std::string_view name;  // in plans and results
  KindCommand command;
  std::string_view in_case_names{};  // where it is not the engine that names a case
  bool by_ranks = false;             // several processes run a case together
  bool sweeps = false;               // its timed window holds operations of many sizes, not one many times
  bool runs_engine = false;          // an engine runs a model, on as many threads as the plan says
  bool checks_outputs = false;       // outputs are compared with those of a reference
  bool has_latency = false;          // its median is the time until an answer
  bool trains = false;               // weights change from step to step: losses, checkpoints, divergence
  bool other_backend = false;        // without a GPU it may exchange by another backend than was asked for
  std::string_view sample = "an inference";  // what its median is of
};
// In the order of the enumeration.
inline constexpr std::array<KindTraits, 3> kWorkloadKinds{
    {{.kind = WorkloadKind::kInference,
      .name = "inference",
      .command = {.name = "infer",
                  .usage = "--model NAME [options]",
                  .summary = "measure inference from flags; lists give a case per combination: --batch 1,8"},
      .runs_engine = true,
      .checks_outputs = true,
      .has_latency = true},
     {.kind = WorkloadKind::kTraining,
      .name = "training",
      .command = {.name = "train",
                  .usage = "[--model NAME] [options] | -c PLAN.yaml",
                  .summary =
                      "train on one or more ranks and time each step; also under torchrun, mpirun, srun",
                  .most_words = 1},
      .in_case_names = "train",
      .by_ranks = true,
      .trains = true,
      .other_backend = true,
      .sample = "a step"},
     {.kind = WorkloadKind::kCollective,
      .name = "collective",
      .command = {.name = "comm",
                  .usage = "[--collective NAME,…] [options]",
                  .summary = "time collectives per message size, with the flags and columns of nccl-tests",
                  .own_letters = true},
      .by_ranks = true,
      .sweeps = true,
      .sample = "an operation of the largest size"}}};
constexpr const KindTraits& traits_of(WorkloadKind kind) {
  return kWorkloadKinds.at(static_cast<std::size_t>(kind));
}

}  // namespace paceline
