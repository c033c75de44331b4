// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "analysis/case_query.h"

// The functions behind the rows of finding_table.cc. Each returns its strongest case first, or nothing.
namespace paceline::analysis {

using result::Finding;
using Cases = std::vector<const CaseResult*>;
using Findings = std::vector<Finding>;

// The rest of a finding comes from its row in the table. `cases`: those to look at, in this order.
inline Finding finding_about(const Cases& cases, std::string text, std::string evidence,
                             std::string advice = {}) {
  Finding finding{"", "", std::move(text), std::move(evidence), std::move(advice), {}};
  for (const CaseResult* one : cases) finding.about.push_back(one->case_id);
  return finding;
}

// "; the check cannot say whether its outputs are right"; empty where an independent check found them right.
// `outputs` are "its outputs", "the outputs of X" (findings_accuracy.cc).
std::string output_doubt(const CaseResult& one, const std::string& outputs);

// Speed-ups against the plan's baseline (findings_speed.cc)
Findings find_precision_speedup(const RunResult& run);
Findings find_precision_slowdown(const RunResult& run);
Findings find_engine_speedup(const RunResult& run);
Findings find_engine_slowdown(const RunResult& run);
Findings find_setting_effect(const RunResult& run);
Findings find_no_claim(const RunResult& run);

// Throughput over batch, memory (findings_choice.cc)
Findings find_batch_scaling(const RunResult& run);
Findings find_flat_batches(const RunResult& run);
Findings find_memory_saving(const RunResult& run);

// Builds of one model (findings_builds.cc)
Findings find_build_spread(const RunResult& run);
Findings find_builds_alike(const RunResult& run);

// Sleeps between inferences (findings_gaps.cc)
Findings find_idle_gaps(const RunResult& run);

// Times of two modes, and what tells them apart (findings_states.cc)
Findings find_two_states(const RunResult& run);

// Shapes that the loaded model had not seen (findings_new_shapes.cc)
Findings find_slow_new_shapes(const RunResult& run);
Findings find_new_shapes(const RunResult& run);

// Choices, and what they cost (findings_recommendation.cc)
Findings find_recommendations(const RunResult& run);

// Load: sweeps over concurrency, objectives (findings_load.cc)
Findings find_layouts(const RunResult& run);  // findings_layouts.cc
Findings find_knee(const RunResult& run);
Findings find_met_objectives(const RunResult& run);
Findings find_open_capacities(const RunResult& run);
Findings find_capacities(const RunResult& run);
Findings find_missed_objectives(const RunResult& run);
Findings find_open_objectives(const RunResult& run);

// GPUs (findings_device.cc)
Findings find_device_slowdown(const RunResult& run);
Findings find_idle_tensor_cores(const RunResult& run);
Findings find_unused_tensor_cores(const RunResult& run);  // these three: findings_peaks.cc
Findings find_pageable_copies(const RunResult& run);
Findings find_serial_copies(const RunResult& run);
Findings find_slow_launches(const RunResult& run);
Findings find_contiguous_convolutions(const RunResult& run);
Findings find_cudnn_by_rule(const RunResult& run);
Findings find_gain_by_model(const RunResult& run);

// Several GPUs (findings_gpus.cc)
Findings find_gpu_scaling(const RunResult& run);
Findings find_slow_devices(const RunResult& run);

// Training over ranks (findings_training.cc)
Findings find_stragglers(const RunResult& run);  // findings_stragglers.cc
Findings find_exposed_communication(const RunResult& run);
Findings find_data_bound(const RunResult& run);
Findings find_uneven_sync(const RunResult& run);  // findings_stragglers.cc
Findings find_missed_faults(const RunResult& run);
Findings find_poor_scaling(const RunResult& run);
Findings find_overdrawn_budgets(const RunResult& run);
Findings find_superlinear(const RunResult& run);
Findings find_good_scaling(const RunResult& run);
Findings find_ddp_cost(const RunResult& run);
Findings find_host_bound(const RunResult& run);
Findings find_top_operators(const RunResult& run);  // findings_profile.cc
Findings find_memory_operators(const RunResult& run);
Findings find_outside_onednn(const RunResult& run);
// Share of the profiled steps in PyTorch's own loops for convolutions; missing without a profile.
Number outside_onednn_share(const CaseResult& one);
// Share of the profiled steps in operators that only move or fill memory; missing without a profile.
Number memory_share(const CaseResult& one);

// Reasons why numbers are unfit or incomplete (findings_quality.cc)
Findings find_failed_cases(const RunResult& run);
Findings find_accuracy_failures(const RunResult& run);
Findings find_unknown_accuracy(const RunResult& run);
Findings find_unclaimed_accuracy(const RunResult& run);
Findings find_accuracy_change(const RunResult& run);
Findings find_precision_fallback(const RunResult& run);
Findings find_float_layers(const RunResult& run);
Findings find_narrow_weights(const RunResult& run);
Findings find_thread_variables(const RunResult& run);  // findings_environment.cc
Findings find_invalid_cases(const RunResult& run);
Findings find_noisy_cases(const RunResult& run);
Findings find_not_converged(const RunResult& run);
Findings find_process_spread(const RunResult& run);
Findings find_above_peak(const RunResult& run);
Findings find_skipped_cases(const RunResult& run);

}  // namespace paceline::analysis
