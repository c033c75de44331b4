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
};
// In the order of the enumeration.
inline constexpr std::array<KindTraits, 3> kWorkloadKinds{
    {{WorkloadKind::kInference, "inference"},
     {WorkloadKind::kTraining, "training", "train", true},
     {WorkloadKind::kCollective, "collective", "", true}}};
constexpr const KindTraits& traits_of(WorkloadKind kind) {
  return kWorkloadKinds.at(static_cast<std::size_t>(kind));
}

}  // namespace paceline
