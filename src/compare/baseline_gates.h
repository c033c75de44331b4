// SPDX-License-Identifier: MIT
// Decides expectations that name a stored run: 'p50_ms <= baseline:main + 3%'.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "result/run_directory.h"

namespace paceline::compare {

// Reads the run that a gate names.
using BaselineReader = std::function<result::StoredRun(const std::string&)>;

// One result per gate that names a baseline and matching case: the verdict of the comparison of the two
// stored runs, so that times measured apart are never more than suspected. Met: EQUIVALENT or IMPROVEMENT;
// missed: REGRESSION; cannot say: INCONCLUSIVE, or no partner. `invalid` where the environments differ.
// Throws what the reader throws, and Error(kUsage) as compare_runs does.
std::vector<result::GateResult> baseline_gates(const std::vector<std::string>& expressions,
                                               const result::StoredRun& now, const BaselineReader& read);

}  // namespace paceline::compare
