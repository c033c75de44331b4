// SPDX-License-Identifier: MIT
#include "cli/tune/objectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/case_query.h"
#include "analysis/metric_value.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "result/figures/pair_ratio.h"
#include "result/figures/peak_memory.h"
#include "result/figures/summarize.h"
#include "result/stored/cpu_power.h"
#include "stats/interval.h"
#include "stats/quantile.h"

namespace paceline::cli {
namespace {

const result::Repetition* repetition_of(const MeasuredArm& arm, std::int64_t index) {
  const auto& all = arm.one->repetitions;
  const auto found = std::ranges::find(all, index, &result::Repetition::index);
  return found == all.end() ? nullptr : &*found;
}

Number not_there() {
  return Number::missing("not measured");
}

Number blocks_were_timed() {
  return Number::missing(
      "blocks of inferences were timed, which have no latency; leave out timing: pipelined");
}

Number median_cost(const MeasuredArm& arm, std::int64_t index) {
  const auto* repetition = repetition_of(arm, index);
  if (!repetition) return not_there();
  return arm.one->benchmark.timing_mode == stats::kPipelined ? blocks_were_timed() : repetition->p50_ns;
}

// The percentile of one process, which needs a sample above it.
template <int Percent>
Number percentile_cost(const MeasuredArm& arm, std::int64_t index) {
  constexpr auto kFewest = fewest_samples(Percent);
  if (!arm.samples) return Number::missing("the samples are not known");
  const auto means = result::means_of(*arm.samples);
  if (means == stats::kPipelined) return blocks_were_timed();
  if (!means.empty())
    return Number::missing(
        fmt::format("batches were timed, which have no p{}; add --timing-mode sync_latency", Percent));
  auto sorted = result::latencies_ns(*arm.samples, static_cast<int>(index));
  if (std::ssize(sorted) < kFewest)
    return Number::missing(
        fmt::format("p{0} of a process needs {1} samples, and one had {2}; search again "
                    "with --iterations {1}",
                    Percent, kFewest, sorted.size()));
  std::ranges::sort(sorted);
  return stats::nearest_rank(sorted, Percent * 10'000);
}

Number throughput_cost(const MeasuredArm& arm, std::int64_t index) {
  const auto* repetition = repetition_of(arm, index);
  if (!repetition) return not_there();
  const auto rate = result::process_value(*arm.one, *repetition, result::Figure::kRate);
  if (!rate) return rate;
  return *rate > 0 ? Number(1e9 / *rate) : Number::missing("nothing was completed");
}

// Time per sample of a process whose steps follow each other.
Number sample_cost(const MeasuredArm& arm, std::int64_t index) {
  const auto* repetition = repetition_of(arm, index);
  if (!repetition || !repetition->mean_ns) return not_there();
  return *repetition->mean_ns / arm.items_per_iteration;
}

Number memory_cost(const MeasuredArm& arm, std::int64_t index) {
  const auto* repetition = repetition_of(arm, index);
  if (!repetition) return not_there();
  const auto bytes = result::peak_memory(arm.one->benchmark, repetition->memory);
  return bytes ? Number(static_cast<double>(*bytes)) : Number::missing(bytes.reason());
}

Number energy_cost(const MeasuredArm& arm, std::int64_t index) {
  const auto* repetition = repetition_of(arm, index);
  if (!repetition || !arm.sampled) return not_there();
  std::vector<result::SampledWindow> own;
  std::ranges::copy_if(*arm.sampled, std::back_inserter(own),
                       [&](const auto& window) { return window.repetition == index; });
  const Number items = static_cast<double>(repetition->n) * arm.items_per_iteration;
  for (const auto& part : result::summarize_cpu_power(own, [&](const auto&) { return items; }, {}))
    if (part.part == result::kCpuPackages) return part.energy_per_item_j;
  return Number::missing("the energy of the CPUs was not read");
}

using enum WorkloadKind;
constexpr std::array kObjectiveRows{
    Objective{kInference, "latency", "median latency", "p50_ms", median_cost},
    Objective{kInference, "p90", "p90 of latency", "p90_ms", percentile_cost<90>},
    Objective{kInference, "p99", "p99 of latency", "p99_ms", percentile_cost<99>},
    Objective{kInference, "throughput", "throughput", "throughput_per_s", throughput_cost},
    Objective{kInference, "memory", "memory", "memory_mb", memory_cost},
    Objective{kInference, "energy", "energy per item", "cpu_energy_per_item_j", energy_cost},
    Objective{kTraining, "throughput", "throughput", "throughput_per_s", sample_cost},
    Objective{kTraining, "latency", "median step time", "p50_ms", median_cost},
    Objective{kTraining, "memory", "memory of rank 0", "memory_mb", memory_cost},
    Objective{kTraining, "energy", "energy per item", "cpu_energy_per_item_j", energy_cost},
};

}  // namespace

const Objective& find_objective(WorkloadKind kind, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& row : kObjectiveRows) {
    if (row.kind != kind) continue;
    if (row.name == name) return row;
    names.emplace_back(row.name);
  }
  throw Error(ErrorCode::kUsage, fmt::format("--objective {}: a search of {} can optimise {}", name,
                                             traits_of(kind).command.name, join(names, ", ")));
}

std::string metric_words(std::string_view metric, const result::CaseResult& one) {
  const auto* row = result::find_metric(metric);
  const auto value = analysis::metric_value(*row, one).value;
  if (!value) return {};
  return fmt::format("{}{}", format_significant(*value),
                     row->unit == "1" ? "" : fmt::format(" {}", row->unit));
}

std::string metric_range(std::string_view metric, const result::CaseResult& one) {
  const auto value = analysis::metric_value(*result::find_metric(metric), one);
  return value.ci_low && value.ci_high ? analysis::format_range(*value.ci_low, *value.ci_high) : "";
}

}  // namespace paceline::cli
