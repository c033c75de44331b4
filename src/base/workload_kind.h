// SPDX-License-Identifier: MIT
// The kinds of workload: one row per kind, which callers ask.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace paceline {

enum class WorkloadKind : std::uint8_t { kInference, kTraining, kCollective };

struct KindTraits {
  WorkloadKind kind;
  std::string_view name;             // in plans and results
  std::string_view in_case_names{};  // where it is not the engine that names a case
  bool by_ranks = false;             // several processes run a case together
  bool sweeps = false;               // its timed window holds operations of many sizes, not one many times
  std::string_view sample = "an inference";  // what its median is of
};
// In the order of the enumeration.
inline constexpr std::array<KindTraits, 3> kWorkloadKinds{
    {{.kind = WorkloadKind::kInference, .name = "inference"},
     {.kind = WorkloadKind::kTraining,
      .name = "training",
      .in_case_names = "train",
      .by_ranks = true,
      .sample = "a step"},
     {.kind = WorkloadKind::kCollective,
      .name = "collective",
      .by_ranks = true,
      .sweeps = true,
      .sample = "an operation of the largest size"}}};
constexpr const KindTraits& traits_of(WorkloadKind kind) {
  return kWorkloadKinds.at(static_cast<std::size_t>(kind));
}

}  // namespace paceline
