// SPDX-License-Identifier: MIT
#include "analysis/finding_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "analysis/case_query.h"
#include "analysis/findings.h"

namespace paceline::analysis {
namespace {

constexpr std::array<FindingRule, 63> kRules{{
    {"accuracy_failure", "problem", find_accuracy_failures},
    {"failed_cases", "problem", find_failed_cases},
    {"invalid_cases", "problem", find_invalid_cases},
    {"objective_missed", "problem", find_missed_objectives},
    {"precision_fallback", "problem", find_precision_fallback},
    {"unknown_accuracy", "warning", find_unknown_accuracy},
    {"unclaimed_accuracy", "warning", find_unclaimed_accuracy},
    {"idle_gap", "warning", find_idle_gaps},
    {"two_states", "warning", find_two_states},
    {"slow_new_shape", "warning", find_slow_new_shapes},
    {"noisy_cases", "warning", find_noisy_cases},
    {"not_converged", "warning", find_not_converged},
    {"process_spread", "warning", find_process_spread},
    {"build_spread", "warning", find_build_spread},
    {"above_peak", "warning", find_above_peak},
    {"slow_device", "warning", find_slow_devices},
    {"device_slowdown", "warning", find_device_slowdown},
    {"straggler", "warning", find_stragglers},
    {"poor_scaling", "warning", find_poor_scaling},
    {"overdrawn_budget", "warning", find_overdrawn_budgets},
    {"exposed_communication", "warning", find_exposed_communication},
    {"data_bound", "warning", find_data_bound},
    {"host_bound", "warning", find_host_bound},
    {"uneven_sync", "warning", find_uneven_sync},
    {"superlinear", "warning", find_superlinear},
    {"fault_missed", "warning", find_missed_faults},
    {"capacity_open", "warning", find_open_capacities},
    {"idle_tensor_cores", "advice", find_idle_tensor_cores},
    {"unused_tensor_cores", "advice", find_unused_tensor_cores},
    {"pageable_copies", "advice", find_pageable_copies},
    {"serial_copies", "advice", find_serial_copies},
    {"slow_launches", "advice", find_slow_launches},
    {"contiguous_convolutions", "advice", find_contiguous_convolutions},
    {"cudnn_by_rule", "advice", find_cudnn_by_rule},
    {"flat_batch", "advice", find_flat_batches},
    {"float_layers", "advice", find_float_layers},
    {"narrow_weights", "advice", find_narrow_weights},
    {"thread_variables", "advice", find_thread_variables},
    {"precision_slowdown", "advice", find_precision_slowdown},
    {"engine_slowdown", "advice", find_engine_slowdown},
    {"no_claim", "advice", find_no_claim},
    {"objective_open", "advice", find_open_objectives},
    {"skipped_cases", "advice", find_skipped_cases},
    {"outside_onednn", "advice", find_outside_onednn},
    {"recommendation", "insight", find_recommendations},
    {"precision_speedup", "insight", find_precision_speedup},
    {"gain_by_model", "insight", find_gain_by_model},
    {"engine_speedup", "insight", find_engine_speedup},
    {"accuracy_change", "insight", find_accuracy_change},
    {"setting_effect", "insight", find_setting_effect},
    {"batch_scaling", "insight", find_batch_scaling},
    {"new_shape", "insight", find_new_shapes},
    {"capacity", "insight", find_capacities},
    {"objective_met", "insight", find_met_objectives},
    {"knee", "insight", find_knee},
    {"layout", "insight", find_layouts},
    {"gpu_scaling", "insight", find_gpu_scaling},
    {"builds_alike", "insight", find_builds_alike},
    {"scaling", "insight", find_good_scaling},
    {"ddp_cost", "insight", find_ddp_cost},
    {"top_operator", "insight", find_top_operators},
    {"memory_operators", "insight", find_memory_operators},
    {"memory_saving", "insight", find_memory_saving},
}};

constexpr std::array<std::string_view, 4> kSeverities{"problem", "warning", "advice", "insight"};
constexpr std::size_t kPlacesForInsights = 2;
// Whether answers are right is never cut; these come on top of the limit.
constexpr std::array<std::string_view, 5> kNeverCut{
    "accuracy_failure", "precision_fallback", "unknown_accuracy", "unclaimed_accuracy", "accuracy_change"};

// Findings about grades, which tell no case from another where all have the same.
constexpr std::array<std::string_view, 2> kOfGrades{"invalid_cases", "noisy_cases"};

std::size_t severity_rank(std::string_view severity) {
  const auto found = std::find(kSeverities.begin(), kSeverities.end(), severity);
  return static_cast<std::size_t>(std::distance(kSeverities.begin(), found));
}

// The first of each kind comes before the second of any; inside a round the most severe comes first.
std::vector<Finding> in_rounds(const std::vector<Finding>& all) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::pair<std::size_t, const Finding*>> order;
  for (const Finding& finding : all) order.emplace_back(seen[finding.id]++, &finding);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return severity_rank(a.second->severity) < severity_rank(b.second->severity);
  });
  std::vector<Finding> sorted;
  for (const auto& [round, finding] : order) sorted.push_back(*finding);
  return sorted;
}

}  // namespace

std::span<const FindingRule> finding_rules() {
  return kRules;
}

std::vector<Finding> find_all(const result::RunResult& run) {
  std::vector<Finding> all;
  for (const FindingRule& rule : kRules) {
    for (Finding& finding : rule.find(run)) {
      finding.id = rule.id;
      finding.severity = rule.severity;
      all.push_back(std::move(finding));
    }
  }
  return all;
}

std::vector<Finding> rank_findings(const std::vector<Finding>& all, std::size_t limit) {
  std::vector<Finding> sorted = in_rounds(all), chosen;
  const auto never_cut = [](const Finding& one) { return std::ranges::count(kNeverCut, one.id) > 0; };
  std::ranges::copy_if(sorted, std::back_inserter(chosen), never_cut);
  std::erase_if(sorted, never_cut);
  limit -= std::min(limit, chosen.size());
  const auto is_insight = [](const Finding& finding) { return finding.severity == "insight"; };
  const auto insights = static_cast<std::size_t>(std::count_if(sorted.begin(), sorted.end(), is_insight));
  std::size_t kept = std::min({insights, kPlacesForInsights, limit});
  std::size_t others = limit - kept;
  if (sorted.size() - insights < others) kept = limit - (sorted.size() - insights);
  for (const Finding& finding : sorted) {
    std::size_t& places = is_insight(finding) ? kept : others;
    if (places == 0) continue;
    --places;
    chosen.push_back(finding);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const Finding& a, const Finding& b) {
    return severity_rank(a.severity) < severity_rank(b.severity);
  });
  return chosen;
}

std::vector<Finding> shown_findings(const result::RunResult& run, const std::vector<Finding>& all,
                                    std::size_t limit) {
  auto chosen = rank_findings(all, limit);
  std::set<result::Grade> grades;
  for (const auto& one : run.cases)
    if (is_ok(one)) grades.insert(one.grade);
  if (grades.size() == 1)
    std::stable_partition(chosen.begin(), chosen.end(), [](const Finding& finding) {
      return std::ranges::find(kOfGrades, finding.id) == kOfGrades.end();
    });
  return chosen;
}

}  // namespace paceline::analysis
