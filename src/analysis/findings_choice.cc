// SPDX-License-Identifier: MIT
// Findings about the choice of a batch size, and about memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "analysis/memory_saving.h"
#include "analysis/ratio_verdict.h"
#include "base/units.h"
#include "result/figures/peak_memory.h"

namespace paceline::analysis {
namespace {

using result::Estimate;

constexpr double kComputeBoundShare = 0.5;  // from this share on "compute-bound" may be said

std::string rate_text(const CaseResult& one) {
  return fmt::format("{} {}/s ({})", format_rate(*one.throughput.per_s.value), one.throughput.item,
                     format_range_of(one.throughput.per_s));
}

std::string peak_text(const CaseResult& one, bool claimed) {
  const auto& share = one.flops.share_of_measured_peak;
  if (!share) return {};
  return fmt::format("; {}{} % of this machine's measured peak",
                     claimed && *share >= kComputeBoundShare ? "compute-bound, " : "",
                     format_fixed(*share * 100, 0));
}

std::string scaling_text(const RatioVerdict& judged) {
  if (judged.reason.empty() && !judged.no_size.empty())
    return (judged.more() ? "it gains throughput" : "it loses throughput") + without_size(judged.no_size);
  switch (judged.claim) {
    case Claim::kNone:
      return "no claim: " + judged.reason;
    case Claim::kMore:
      return fmt::format("{}x the throughput ({})", format_fixed(judged.ratio->value, 2),
                         range_of(*judged.ratio));
    case Claim::kLess:
      return fmt::format("it loses throughput, to {} of it ({})", format_fixed(judged.ratio->value, 2),
                         range_of(*judged.ratio));
    case Claim::kEqual:
      return fmt::format("no gain in throughput: the two are equal within {} (ratio {})",
                         format_percent(judged.margin, 0), range_of(*judged.ratio));
    case Claim::kOpen:
      break;
  }
  return fmt::format("whether it gains throughput cannot be said (ratio {})", range_of(*judged.ratio));
}

Finding scaling_finding(const RunResult& run, const CaseResult& small, const CaseResult& large) {
  const RatioVerdict judged = judge_ratio(run, Figure::kRate, large, small);
  const bool claimed = judged.claim != Claim::kNone && judged.claim != Claim::kOpen;
  const auto& peak = large.flops.peak_source;
  return finding_about(
      {&large, &small},
      fmt::format("Batch {} against batch {} of {}: {} and {}: {}{}.", large.benchmark.batch_per_rank,
                  small.benchmark.batch_per_rank, describe_without(large.benchmark, "batch"),
                  rate_text(large), rate_text(small), scaling_text(judged), peak_text(large, claimed)),
      "throughput with its interval at both batch sizes" + (peak.empty() ? "" : "; peak: " + peak));
}

// Cases that only differ in batch, the smallest batch first.
std::vector<Cases> batch_groups(const RunResult& run) {
  std::map<std::string, Cases> groups;
  for (const CaseResult& one : run.cases)
    if (is_ok(one) && has_interval(one.throughput.per_s))
      groups[describe_without(one.benchmark, "batch").append(traits_of(one.benchmark.scenario).name)]
          .push_back(&one);
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

// The first batch that no larger one beats by as much as matters, where there are larger ones.
const CaseResult* flat_from(const Cases& group) {
  constexpr double kFlat = 1.05;
  const auto beats = [](const CaseResult* larger, const CaseResult* one) {
    return *larger->throughput.per_s.value > kFlat * *one->throughput.per_s.value;
  };
  for (auto at = group.begin(); at + 1 != group.end(); ++at)
    if (std::none_of(at + 1, group.end(), [&](const auto* larger) { return beats(larger, *at); })) return *at;
  return nullptr;
}

}  // namespace

Findings find_flat_batches(const RunResult& run) {
  Findings found;
  for (const Cases& group : batch_groups(run)) {
    if (group.size() < 3 || !result::on_device(group.front()->benchmark)) continue;
    const CaseResult* flat = flat_from(group);
    if (!flat) continue;
    const CaseResult& last = *group.back();
    const RatioVerdict judged = judge_ratio(run, Figure::kRate, last, *flat);
    if (judged.claim == Claim::kMore) continue;
    const auto batch = flat->benchmark.batch_per_rank;
    found.push_back(finding_about(
        {flat, &last},
        fmt::format("{} at batch {} and {} at batch {} of {}: throughput is flat beyond batch {}{}.",
                    rate_text(*flat), batch, rate_text(last), last.benchmark.batch_per_rank,
                    describe_without(last.benchmark, "batch"), batch,
                    !judged.doubt().empty() ? "; no claim: " + judged.doubt()
                                            : fmt::format(" (ratio {})", range_of(*judged.ratio))),
        "throughput with its interval at both batch sizes",
        fmt::format("Use --batch {}: a larger one only adds latency and memory.", batch)));
  }
  return found;
}

Findings find_batch_scaling(const RunResult& run) {
  Findings found;
  for (const Cases& group : batch_groups(run))
    found.push_back(scaling_finding(run, *group.front(), *group.back()));
  return found;
}

Findings find_memory_saving(const RunResult& run) {
  std::optional<MemorySaving> best;
  const CaseResult* saver = nullptr;
  for (const CaseResult& one : run.cases) {
    const CaseResult* baseline = find_case(run, one.speedup.baseline_case_id);
    if (!baseline || baseline == &one || !is_ok(one) || !is_ok(*baseline)) continue;
    const auto saving = memory_saving(one, *baseline);
    if (!saving || saving->share < kMemoryChange || (best && saving->share <= best->share)) continue;
    best = saving;
    saver = &one;
  }
  if (!best) return {};
  const CaseResult& baseline = *find_case(run, saver->speedup.baseline_case_id);
  return {finding_about(
      {saver, &baseline},
      fmt::format("{} needs {} % less memory than {} ({}–{} % over the processes).", saver->label,
                  format_fixed(best->share * 100, 0), baseline.label, format_fixed(best->low * 100, 0),
                  format_fixed(best->high * 100, 0)),
      fmt::format("{} {} against {}",
                  result::on_device(baseline.benchmark) ? "peak on the GPU" : "peak above load",
                  format_bytes(memory_range(*saver)->high), format_bytes(memory_range(baseline)->high)))};
}

}  // namespace paceline::analysis
