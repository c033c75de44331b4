// SPDX-License-Identifier: MIT
// A plan with its workloads, and how it is loaded.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "config/case.h"
#include "config/extra_names.h"
#include "config/flag_set.h"
#include "config/new_shapes.h"
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

// Reads a plan, applies the overrides of the command line, validates, and fills in defaults. Throws
// ConfigErrors with every mistake of a text that parses.
Plan load_plan_text(std::string_view yaml, const std::string& source, const FlagSet& overrides = {},
                    const ExtraNames& extra = {});
// One workload from flags alone, of the kind that their command runs. Throws ConfigErrors(kUsage).
Plan plan_from_flags(const FlagSet& flags, const ExtraNames& extra = {});

// Number of cases, saturating; expand() throws Error(kConfig) above kMaxCases.
std::size_t count_cases(const Plan& plan);
std::vector<Case> expand(const Plan& plan);

// The inputs of an inference case with full shapes: the model's own, or `shapes` at the case's batch.
std::vector<TensorSpec> case_inputs(const Case& item);
// The batch dimension of each of those inputs; -1: the input is the same whatever the batch.
std::vector<std::int64_t> case_batch_dimensions(const Case& item);
// Shapes of those inputs that run twice after the loop.
std::vector<SizedShape> case_new_shapes(const Case& item);

// The plan with every default written out; loads again to the same plan.
std::string effective_yaml(const Plan& plan);

}  // namespace paceline::config
