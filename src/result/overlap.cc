// SPDX-License-Identifier: MIT
#include "result/overlap.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace paceline::result {
namespace {

using Span = std::pair<std::int64_t, std::int64_t>;

// How much of the time before `end` the spans cover together; the spans are sorted by start.
std::int64_t covered_before(const std::vector<Span>& spans, std::int64_t end) {
  std::int64_t covered = 0, until = 0;
  for (const auto& [from, to] : spans) {
    const auto start = std::max(from, until), stop = std::min(to, end);
    covered += std::max<std::int64_t>(0, stop - start);
    until = std::max(until, stop);
  }
  return covered;
}

}  // namespace

Number overlap_ratio(const StepRow& row) {
  std::vector<Span> spans;
  std::int64_t last_launch = 0, last_end = 0;
  for (const auto& bucket : row.buckets) {
    if (!bucket.finish_ns) return Number::missing(kEndUnheard);
    spans.emplace_back(bucket.launch_ns, *bucket.finish_ns);
    last_launch = std::max(last_launch, bucket.launch_ns);
    last_end = std::max(last_end, *bucket.finish_ns);
  }
  std::sort(spans.begin(), spans.end());
  const auto all = covered_before(spans, last_end);
  if (all <= 0) return Number::missing("no gradients were exchanged");
  return static_cast<double>(covered_before(spans, last_launch)) / static_cast<double>(all);
}

Number overlap_ratio(const std::vector<StepAcross>& timed) {
  std::vector<double> means;
  for (const auto& step : timed) {
    double sum = 0;
    for (const StepRow* row : step) {
      const auto one = overlap_ratio(*row);
      if (!one) return one;
      sum += *one;
    }
    means.push_back(sum / static_cast<double>(step.size()));
  }
  return median_or_missing(means);
}

}  // namespace paceline::result
