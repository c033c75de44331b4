// SPDX-License-Identifier: MIT
// Findings about several GPUs that share one queue, and about the one that does less (methodology:
// instances).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "base/device.h"
#include "base/units.h"
#include "result/figures/device_figures.h"
#include "result/judged/noise_rules.h"
#include "result/judged/shared_work.h"
#include "result/judged/training_scaling.h"
#include "result/stored/benchmark_params.h"

namespace paceline::analysis {
namespace {

using result::SlowestReplica;
using result::WorkPart;

std::int64_t gpus_of(const CaseResult& one) {
  const auto replicas = result::replicas_of(one.benchmark);
  return replicas && replicas->gpus ? replicas->count : 0;
}

std::string words_without_gpus(const CaseResult& one) {
  auto b = result::without_threads_per_instance(one.benchmark);
  b.gpus.reset();
  return describe_without(b, "");
}

// Cases that only differ in how many GPUs they use, the fewest first.
std::vector<Cases> gpu_groups(const RunResult& run) {
  std::map<std::string, Cases> groups;
  for (const CaseResult& one : run.cases)
    if (is_ok(one) && gpus_of(one) > 0 && rate_of(one).value) groups[words_without_gpus(one)].push_back(&one);
  std::vector<Cases> found;
  for (auto& [subject, group] : groups) {
    std::ranges::sort(group, {}, [](const auto* one) { return gpus_of(*one); });
    if (std::ranges::any_of(group, [](const auto* one) { return one->scaling.has_value(); }))
      found.push_back(std::move(group));
  }
  return found;
}

// "4 GPUs do 3.90x the work, an efficiency of 97 % (96–98 %)"
std::string efficiency_words(const CaseResult& one) {
  const auto& s = *one.scaling;
  const auto doubt = result::scaling_doubt(one);
  const auto range = doubt.empty()
                         ? fmt::format("{}–{}", format_fixed(*s.ci_low * 100, 1), format_percent(*s.ci_high))
                         : "no claim: " + doubt;
  return fmt::format("{} do {}x the work, an efficiency of {} ({})", result::replicas_text(s.world, true),
                     format_fixed(*s.speedup, 2), format_percent(*s.efficiency), range);
}

// The device of that name as a sampler saw it; null: none did.
const result::DeviceState* state_of(const std::vector<result::DeviceState>& states, std::string_view name) {
  const auto found = std::ranges::find(states, name, &result::DeviceState::device);
  return found == states.end() ? nullptr : &*found;
}

// "; its mean clock is 1410 MHz, the highest of the others 1980 MHz"; empty where it is no lower.
std::string clock_words(const CaseResult& one, std::string_view name) {
  const auto states = result::device_states(one);
  const auto* slow = state_of(states, name);
  double highest = 0;
  for (const auto& state : states)
    if (&state != slow) highest = std::max(highest, state.sm_clock_mean_mhz.value().value_or(0));
  constexpr double kLower = 0.98;
  if (!slow || !slow->sm_clock_mean_mhz || *slow->sm_clock_mean_mhz >= kLower * highest) return {};
  return fmt::format("; its mean clock is {} MHz, the highest of the others {} MHz",
                     format_fixed(*slow->sm_clock_mean_mhz, 0), format_fixed(highest, 0));
}

// Why a part that is slow may not be called so; empty: it may, or it is not.
std::string doubt_of(const stats::ProcessEstimate& of_others) {
  const auto needed = pairs_for_claim(of_others.confidence);
  return of_others.processes >= needed && of_others.ci
             ? std::string()
             : fmt::format("{} of {} processes that a claim needs", of_others.processes, needed);
}

// By more than the smallest difference that counts; what may not be claimed is told from a tenth on.
bool is_slow(const CaseResult& one, const stats::ProcessEstimate& of_others) {
  constexpr double kWorthTelling = 0.9;
  if (!doubt_of(of_others).empty()) return of_others.value < kWorthTelling;
  return of_others.ci->high < 1 - result::smallest_difference(result::profile_of(one));
}

Finding slow_finding(const CaseResult& one, const SlowestReplica& slow) {
  const auto parts = result::work_parts(one);
  const WorkPart& part = parts.at(slow.index);
  const auto& ci = slow.of_others.ci;
  const auto doubt = doubt_of(slow.of_others);
  const auto range = !doubt.empty()
                         ? "no claim: " + doubt
                         : fmt::format("{}–{}", format_fixed(ci->low * 100, 1), format_percent(ci->high));
  const auto device = parse_device(part.name);
  return finding_about(
      {&one},
      fmt::format("{}: {} did {} of the work of {} ({}){}{}.", one.label, part.name,
                  format_percent(slow.of_others.value),
                  parts.size() > 2 ? "the median of the others" : "the other", range,
                  part.per_s ? fmt::format(", {} {}/s", format_rate(*part.per_s), one.throughput.item) : "",
                  clock_words(one, part.name)),
      "requests that each completed from one queue, per repetition",
      device ? fmt::format("Measure it alone (--devices {}); paceline validate shows its power limit, clocks "
                           "and link.",
                           device->index)
             : fmt::format("See what else runs on its CPUs ({}).", part.cpus));
}

}  // namespace

Findings find_gpu_scaling(const RunResult& run) {
  Findings found;
  for (const Cases& group : gpu_groups(run)) {
    const CaseResult& base = *group.front();
    std::string words;
    for (const CaseResult* one : group)
      if (one->scaling) words += "; " + efficiency_words(*one);
    found.push_back(finding_about(group,
                                  fmt::format("{}: {} on {}{}.", words_without_gpus(base), rate_words(base),
                                              result::replicas_text(gpus_of(base), true), words),
                                  "throughput with every number of GPUs, a process per GPU on one queue"));
  }
  return found;
}

Findings find_slow_devices(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || !one.load() || one.load()->instances.empty()) continue;
    if (const auto slow = result::slowest_replica(one); slow && is_slow(one, slow->of_others))
      found.push_back(slow_finding(one, *slow));
  }
  return found;
}

}  // namespace paceline::analysis
