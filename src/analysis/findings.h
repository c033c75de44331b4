// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "result/run_result.h"

// The functions behind the rows of finding_table.cc. Each returns its strongest case first, or nothing.
namespace paceline::analysis {

using Findings = std::vector<result::Finding>;

// Speed-ups against the plan's baseline (findings_speed.cc)
Findings find_precision_speedup(const result::RunResult& run);
Findings find_precision_slowdown(const result::RunResult& run);
Findings find_engine_speedup(const result::RunResult& run);
Findings find_engine_slowdown(const result::RunResult& run);
Findings find_setting_effect(const result::RunResult& run);
Findings find_no_claim(const result::RunResult& run);

// Throughput over batch, memory (findings_choice.cc)
Findings find_batch_scaling(const result::RunResult& run);
Findings find_memory_saving(const result::RunResult& run);

// Builds of one model (findings_builds.cc)
Findings find_build_spread(const result::RunResult& run);
Findings find_builds_alike(const result::RunResult& run);

// What to choose, and what it costs (findings_recommendation.cc)
Findings find_recommendations(const result::RunResult& run);

// Load: sweeps over concurrency, objectives (findings_load.cc)
Findings find_layouts(const result::RunResult& run);  // findings_layouts.cc
Findings find_knee(const result::RunResult& run);
Findings find_met_objectives(const result::RunResult& run);
Findings find_open_capacities(const result::RunResult& run);
Findings find_capacities(const result::RunResult& run);
Findings find_missed_objectives(const result::RunResult& run);
Findings find_open_objectives(const result::RunResult& run);

// Training over ranks (findings_training.cc)
Findings find_stragglers(const result::RunResult& run);
Findings find_exposed_communication(const result::RunResult& run);
Findings find_data_bound(const result::RunResult& run);
Findings find_uneven_sync(const result::RunResult& run);
Findings find_missed_faults(const result::RunResult& run);
Findings find_poor_scaling(const result::RunResult& run);
Findings find_superlinear(const result::RunResult& run);
Findings find_good_scaling(const result::RunResult& run);
Findings find_ddp_cost(const result::RunResult& run);
Findings find_top_operators(const result::RunResult& run);  // findings_profile.cc

// What makes numbers unfit or incomplete (findings_quality.cc)
Findings find_failed_cases(const result::RunResult& run);
Findings find_accuracy_failures(const result::RunResult& run);
Findings find_unclaimed_accuracy(const result::RunResult& run);
Findings find_accuracy_change(const result::RunResult& run);
Findings find_precision_fallback(const result::RunResult& run);
Findings find_invalid_cases(const result::RunResult& run);
Findings find_noisy_cases(const result::RunResult& run);
Findings find_not_converged(const result::RunResult& run);
Findings find_process_spread(const result::RunResult& run);
Findings find_above_peak(const result::RunResult& run);
Findings find_skipped_cases(const result::RunResult& run);

}  // namespace paceline::analysis
