// SPDX-License-Identifier: MIT
#include "compare/side_run.h"

#include <algorithm>
#include <string>

#include "stats/quantile.h"

namespace paceline::compare {
namespace {

PerProcess tails_of(const result::StoredRun& stored, const result::CaseResult& one) {
  PerProcess tails;
  const auto read = result::read_case_samples(stored, one);
  for (const auto& r : one.repetitions) {
    const auto times = result::durations_ns(read.samples, static_cast<int>(r.index));
    if (times.empty()) continue;
    if (const auto p99 = stats::estimate_quantile(times, stats::kPpmP99); p99.value && p99.ci_high)
      tails[r.index] = *p99.value;
  }
  return tails;
}

ProcessFigures figures_in(const result::StoredRun& stored, const result::CaseResult& one) {
  ProcessFigures figures;
  if (stored.folder.empty()) return figures;
  if (traits_of(one.benchmark.kind).has_latency) figures.p99_ns = tails_of(stored, one);
  figures.size_ns = result::medians_by_size(stored, one);
  return figures;
}

// Adds the figures of a run that has one process.
void add_process(const ProcessRun& process, const std::string& case_id, ProcessFigures& figures) {
  const auto& cases = process.stored.run.cases;
  const auto one = std::ranges::find(cases, case_id, &result::CaseResult::case_id);
  if (one == cases.end()) return;
  const auto own = figures_in(process.stored, *one);
  for (const auto& [index, ns] : own.p99_ns) figures.p99_ns[process.index] = ns;
  for (const auto& [size, by_repetition] : own.size_ns)
    for (const auto& [index, ns] : by_repetition) figures.size_ns[size][process.index] = ns;
}

}  // namespace

ProcessFigures process_figures(const SideRun& side, const result::CaseResult& one) {
  auto figures = figures_in(side.stored, one);
  for (const auto& process : side.further) add_process(process, one.case_id, figures);
  return figures;
}

}  // namespace paceline::compare
