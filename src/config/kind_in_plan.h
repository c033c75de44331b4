// SPDX-License-Identifier: MIT
// Flags, workloads and cases of a kind of workload in a plan: a row and a folder per kind. Whoever reads
// a plan asks the row, and never which kind it is.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/case.h"
#include "config/flag_set.h"
#include "config/workload_draft.h"

namespace paceline::config {

// Position of a case on an axis of its workload.
struct AxisPlace {
  std::string_view name;  // singular; "env.NAME" for an environment variable
  const std::vector<Value>& values;
  std::size_t at;
};

struct KindInPlan {
  // Keys that tell the kind of a workload which does not name it.
  std::span<const std::string_view> implied_by{};
  // Completes flags of the command that runs this kind, which are the whole plan.
  FlagSet (*complete_flags)(const FlagSet&) = [](const FlagSet& typed) { return typed; };
  // Drops what is written and another option rules out.
  void (*drop)(std::vector<RawSetting>&) = [](std::vector<RawSetting>&) {};
  // Replaces aliases of values before anything is checked.
  void (*imply)(WorkloadDraft&) = [](WorkloadDraft&) {};
  // Reports options that contradict each other, beyond what their rows and the checks of all kinds say.
  void (*check)(WorkloadDraft&) = [](WorkloadDraft&) {};
  // Fills in what follows from other options and from files.
  void (*settle)(WorkloadDraft&) = [](WorkloadDraft&) {};
  // Completes a case; false: another case of its workload measures the same.
  bool (*complete)(Case&, std::span<const AxisPlace>) = [](Case&, std::span<const AxisPlace>) {
    return true;
  };
  // Why a case cannot run as asked; empty: it can.
  std::vector<std::string> (*reasons)(const Case&) = [](const Case&) { return std::vector<std::string>(); };
};

extern const KindInPlan kInferenceInPlan, kTrainingInPlan, kCollectiveInPlan;

// In the order of the enumeration.
inline constexpr std::array kKindsInPlan{&kInferenceInPlan, &kTrainingInPlan, &kCollectiveInPlan};
static_assert(kKindsInPlan.size() == kWorkloadKinds.size());

inline const KindInPlan& in_plan(WorkloadKind kind) {
  return *kKindsInPlan.at(static_cast<std::size_t>(kind));
}

// Reports options of a workload that contradict each other: by the rows of options, then as its kind knows.
void check_workload(WorkloadDraft& draft);

}  // namespace paceline::config
