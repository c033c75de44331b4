// SPDX-License-Identifier: MIT
#include "compare/side_run.h"

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

}  // namespace

ProcessFigures process_figures(const result::StoredRun& stored, const result::CaseResult& one) {
  ProcessFigures figures;
  if (stored.folder.empty()) return figures;
  if (traits_of(one.benchmark.kind).has_latency) figures.p99_ns = tails_of(stored, one);
  figures.size_ns = result::medians_by_size(stored, one);
  return figures;
}

}  // namespace paceline::compare
