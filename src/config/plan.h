// SPDX-License-Identifier: MIT
// A plan with its workloads, and how it is loaded.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "config/extra_names.h"
#include "config/flag_set.h"
#include "config/option_table.h"
#include "config/settings.h"

namespace paceline::config {

// One entry of `workloads`: all options of its kind with defaults; axes hold lists under the plural name.
struct Workload {
  WorkloadKind kind = WorkloadKind::kInference;
  Settings settings;
  friend bool operator==(const Workload&, const Workload&) = default;
};

struct Plan {
  std::string experiment_name;
  std::string source;     // the file, or "command line"; not part of equality
  Settings settings;      // plan-level options: output_dir, expect, plugin, allow_noisy, …
  Settings command_line;  // command-line-only options: yes, dry_run, …; not part of equality
  std::vector<Workload> workloads;
  std::vector<std::string> remarks;  // lines about keys and flags that set nothing; not part of equality
};
bool same_plan(const Plan& a, const Plan& b);

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

// Reads a plan, applies the overrides of the command line, validates, and fills in defaults. Throws
// ConfigErrors with every mistake of a text that parses.
Plan load_plan_text(std::string_view yaml, const std::string& source, const FlagSet& overrides = {},
                    const ExtraNames& extra = {});
// One workload from flags alone: inference, or training with the flags of kTrain. Throws
// ConfigErrors(kUsage).
Plan plan_from_flags(const FlagSet& flags, const ExtraNames& extra = {});

// Number of cases, saturating; expand() throws Error(kConfig) above kMaxCases.
inline constexpr std::size_t kMaxCases = 100'000;
std::size_t count_cases(const Plan& plan);
std::vector<Case> expand(const Plan& plan);

// The inputs of an inference case with full shapes: the model's own, or `shapes` at the case's batch.
std::vector<TensorSpec> case_inputs(const Case& item);
// The batch dimension of each of those inputs; -1: the input is the same whatever the batch.
std::vector<std::int64_t> case_batch_dimensions(const Case& item);

// The plan with every default written out; loads again to the same plan.
std::string effective_yaml(const Plan& plan);

}  // namespace paceline::config
