// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "base/units.h"

namespace paceline::analysis {
namespace {

using result::CaseResult;
using result::Estimate;
using result::Finding;
using result::RunResult;
using Cases = std::vector<const CaseResult*>;

constexpr double kComputeBoundShare = 0.5;  // from here on "compute-bound" may be said
constexpr double kMemoryChange = 0.05;      // smaller differences are not worth a sentence

bool over_processes(const CaseResult& one) {
  return one.headline.scope == "between_process";
}

bool has_interval(const Estimate& e) {
  return e.value && e.ci_low && e.ci_high;
}

std::string rate_text(const CaseResult& one) {
  return fmt::format("{} {}/s ({})", format_rate(*one.throughput.per_s.value), one.throughput.item,
                     format_range_of(one.throughput.per_s));
}

std::string peak_text(const CaseResult& one) {
  const auto& share = one.flops.share_of_measured_peak;
  if (!share) return {};
  return fmt::format("; {}{:.0f} % of this machine's measured peak",
                     *share >= kComputeBoundShare ? "compute-bound, " : "", *share * 100);
}

std::string scaling_verdict(const CaseResult& small, const CaseResult& large) {
  if (!over_processes(small) || !over_processes(large)) return "within one process each, no claim";
  const Estimate &low = small.throughput.per_s, &high = large.throughput.per_s;
  if (*high.ci_low > *low.ci_high) return fmt::format("{:.2f}x the throughput", *high.value / *low.value);
  if (*high.ci_high < *low.ci_low) return "it loses throughput";
  return "no gain in throughput";
}

Finding scaling_finding(const CaseResult& small, const CaseResult& large) {
  Finding finding;
  finding.text =
      fmt::format("Batch {} against batch {} of {}: {} and {}: {}{}.", large.benchmark.batch_per_rank,
                  small.benchmark.batch_per_rank, describe_without(large.benchmark, "batch"),
                  rate_text(large), rate_text(small), scaling_verdict(small, large), peak_text(large));
  finding.evidence = "throughput with its interval at both batch sizes";
  if (large.flops.peak_source.size()) finding.evidence += "; peak: " + large.flops.peak_source;
  finding.case_ids = {large.case_id, small.case_id};
  return finding;
}

// Cases that differ in batch alone, smallest batch first.
std::vector<Cases> batch_groups(const RunResult& run) {
  std::map<std::string, Cases> groups;
  for (const CaseResult& one : run.cases)
    if (is_ok(one) && has_interval(one.throughput.per_s))
      groups[describe_without(one.benchmark, "batch") + one.benchmark.scenario].push_back(&one);
  std::vector<Cases> found;
  for (auto& [key, group] : groups) {
    std::sort(group.begin(), group.end(), [](const auto* a, const auto* b) {
      return a->benchmark.batch_per_rank < b->benchmark.batch_per_rank;
    });
    if (group.size() > 1 && differing_axes(group.front()->benchmark, group.back()->benchmark) ==
                                std::vector<std::string>{"batch"})
      found.push_back(group);
  }
  return found;
}

struct MemoryRange {
  double low = 0, high = 0;
};

// Smallest and largest peak over the processes of a case.
std::optional<MemoryRange> memory_range(const CaseResult& one) {
  std::optional<MemoryRange> range;
  for (const auto& repetition : one.repetitions) {
    if (!repetition.memory.rss_peak_above_load_bytes) continue;
    const auto bytes = static_cast<double>(*repetition.memory.rss_peak_above_load_bytes);
    if (!range) range = MemoryRange{bytes, bytes};
    range = MemoryRange{std::min(range->low, bytes), std::max(range->high, bytes)};
  }
  return range;
}

struct Saving {
  const CaseResult* one = nullptr;
  const CaseResult* baseline = nullptr;
  double share = 0, low = 0, high = 0;  // of the baseline's memory
};

// Saved share at the processes' extremes; none when the two cases overlap.
std::optional<Saving> saving_of(const CaseResult& one, const CaseResult& baseline) {
  const auto mine = memory_range(one), theirs = memory_range(baseline);
  if (!mine || !theirs || theirs->low <= 0 || mine->high >= theirs->low) return std::nullopt;
  const Saving saving{&one, &baseline, 1 - mine->high / theirs->high, 1 - mine->high / theirs->low,
                      1 - mine->low / theirs->high};
  return saving.share >= kMemoryChange ? std::optional(saving) : std::nullopt;
}

}  // namespace

Findings find_batch_scaling(const RunResult& run) {
  Findings found;
  for (const Cases& group : batch_groups(run))
    found.push_back(scaling_finding(*group.front(), *group.back()));
  return found;
}

Findings find_memory_saving(const RunResult& run) {
  std::optional<Saving> best;
  for (const CaseResult& one : run.cases) {
    const CaseResult* baseline = find_case(run, one.speedup.baseline_case_id);
    if (!baseline || baseline == &one || !is_ok(one) || !is_ok(*baseline)) continue;
    const auto saving = saving_of(one, *baseline);
    if (saving && (!best || saving->share > best->share)) best = saving;
  }
  if (!best) return {};
  Finding finding;
  finding.text = fmt::format("{} needs {:.0f} % less memory than {} ({:.0f}–{:.0f} % over the processes).",
                             best->one->label, best->share * 100, best->baseline->label, best->low * 100,
                             best->high * 100);
  finding.evidence =
      fmt::format("peak above load {} against {}", format_bytes(memory_range(*best->one)->high),
                  format_bytes(memory_range(*best->baseline)->high));
  finding.case_ids = {best->one->case_id, best->baseline->case_id};
  return {finding};
}

}  // namespace paceline::analysis
