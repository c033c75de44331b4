// SPDX-License-Identifier: MIT
#include "analysis/finding_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "analysis/findings.h"

namespace paceline::analysis {
namespace {

constexpr std::array<FindingRule, 46> kRules{{
    {"accuracy_failure", "problem", "outputs outside the tolerance of the reference", find_accuracy_failures},
    {"failed_cases", "problem", "cases that crashed, hung or ran out of memory", find_failed_cases},
    {"invalid_cases", "problem", "cases of grade C: not valid for latency claims", find_invalid_cases},
    {"objective_missed", "problem", "latency objectives that a server does not hold", find_missed_objectives},
    {"precision_fallback", "problem", "less than 90 % of the FLOPs ran in the precision asked for",
     find_precision_fallback},
    {"unknown_accuracy", "warning", "outputs of which no check could say whether they are right",
     find_unknown_accuracy},
    {"unclaimed_accuracy", "warning", "a claim about accuracy that the inputs cannot carry",
     find_unclaimed_accuracy},
    {"noisy_cases", "warning", "cases of grade B and what disturbed them", find_noisy_cases},
    {"not_converged", "warning", "repetitions that stopped before their interval was narrow enough",
     find_not_converged},
    {"process_spread", "warning", "processes that differ more than iterations inside one do",
     find_process_spread},
    {"build_spread", "warning", "builds of one model that differ more than processes of one build do",
     find_build_spread},
    {"above_peak", "warning", "cases that did more FLOPs than the machine was measured to be able to",
     find_above_peak},
    {"device_slowdown", "warning", "GPUs whose power cap or heat kept their clock down",
     find_device_slowdown},
    {"straggler", "warning", "a rank that the others wait for in most steps", find_stragglers},
    {"poor_scaling", "warning", "ranks that reach less than 90 % of ideal", find_poor_scaling},
    {"overdrawn_budget", "warning", "parts of the loss that explain more than 105 % of it",
     find_overdrawn_budgets},
    {"exposed_communication", "warning", "10 % and more of a step that waits for communication",
     find_exposed_communication},
    {"data_bound", "warning", "5 % and more of a training step that waits for data", find_data_bound},
    {"host_bound", "warning", "5 % and more of a training step in none of its parts", find_host_bound},
    {"uneven_sync", "warning", "gradient synchronisation that takes very different times", find_uneven_sync},
    {"superlinear", "warning", "more throughput than ranks can bring", find_superlinear},
    {"fault_missed", "warning", "a fault on purpose that came too late to happen", find_missed_faults},
    {"capacity_open", "warning", "capacities that are lower bounds: no higher rate was seen to miss",
     find_open_capacities},
    {"float_layers", "advice", "1 % and more of the FLOPs of an int8, bf16 or fp16 case in float, and why",
     find_float_layers},
    {"precision_slowdown", "advice", "a lower precision that is slower at the same batch",
     find_precision_slowdown},
    {"engine_slowdown", "advice", "an engine that is slower than the baseline at the same batch",
     find_engine_slowdown},
    {"no_claim", "advice", "speed-ups from too few processes to be claimed", find_no_claim},
    {"objective_open", "advice", "latency objectives that the run cannot decide", find_open_objectives},
    {"skipped_cases", "advice", "cases that nothing here can run", find_skipped_cases},
    {"outside_onednn", "advice", "10 % and more of a profiled step in convolutions outside oneDNN",
     find_outside_onednn},
    {"recommendation", "insight", "what to choose for lowest latency, highest throughput, least memory",
     find_recommendations},
    {"precision_speedup", "insight", "a precision that is faster at the same batch", find_precision_speedup},
    {"engine_speedup", "insight", "an engine that is faster at the same batch", find_engine_speedup},
    {"accuracy_change", "insight", "what a case costs in answers or in accuracy, with trained weights",
     find_accuracy_change},
    {"setting_effect", "insight", "a layout, thread count or variable that is faster or slower",
     find_setting_effect},
    {"batch_scaling", "insight", "what a larger batch gains in throughput", find_batch_scaling},
    {"capacity", "insight", "the rates between which the limit of an objective lies", find_capacities},
    {"objective_met", "insight", "latency objectives that a server holds", find_met_objectives},
    {"knee", "insight", "the concurrency beyond which throughput hardly grows", find_knee},
    {"layout", "insight", "instances x threads with the highest throughput, and how they scale",
     find_layouts},
    {"builds_alike", "insight", "builds of one model that differ no more than processes do",
     find_builds_alike},
    {"scaling", "insight", "what more ranks gain", find_good_scaling},
    {"ddp_cost", "insight", "what DDP costs with one rank", find_ddp_cost},
    {"top_operator", "insight", "the operator that takes 20 % and more of a profiled training step",
     find_top_operators},
    {"memory_operators", "insight", "10 % and more of a profiled step in operators that only move memory",
     find_memory_operators},
    {"memory_saving", "insight", "the configuration that needs least memory", find_memory_saving},
}};

constexpr std::array<std::string_view, 4> kSeverities{"problem", "warning", "advice", "insight"};
constexpr std::size_t kPlacesForInsights = 2;
// Whether answers are right is never cut; these come on top of the limit.
constexpr std::array<std::string_view, 5> kNeverCut{
    "accuracy_failure", "precision_fallback", "unknown_accuracy", "unclaimed_accuracy", "accuracy_change"};

std::size_t severity_rank(std::string_view severity) {
  const auto found = std::find(kSeverities.begin(), kSeverities.end(), severity);
  return static_cast<std::size_t>(std::distance(kSeverities.begin(), found));
}

// The first of each kind comes before the second of any; inside a round the gravest comes first.
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

}  // namespace paceline::analysis
