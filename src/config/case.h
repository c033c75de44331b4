// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "config/option.h"
#include "config/settings.h"

namespace paceline::config {

inline constexpr std::size_t kMaxCases = 100'000;  // of one plan

// One point in the product of a workload's axes.
struct Case {
  std::string id;     // file-system-safe, unique in the plan, stable: "resnet50-eager-fp32-b8"
  std::string label;  // "resnet50 eager fp32 b8"
  WorkloadKind kind = WorkloadKind::kInference;
  std::size_t workload = 0;  // index into Plan::workloads
  Settings settings;         // singular names for axes (model, engine, precision, batch, threads, layout,
                             // sequence_length)
  std::map<std::string, std::string> env;
  std::string not_available;  // why it must be skipped; empty: it can run
  std::string where;        // its device on this machine and why, in words; empty: not known, or it has none
  std::string gpu_refusal;  // why its ranks' plug-in cannot use the GPU here; empty: it can, or was not asked
  std::optional<std::string> baseline_id;  // equals id for the baseline itself; none when nothing is compared
};

}  // namespace paceline::config
