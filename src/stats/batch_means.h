// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "stats/interval.h"

// Intervals of means and rates from contiguous batch means (methodology: mean and throughput).
namespace paceline::stats {

// 20 batches, or 10 when their means are still correlated; Student's t with one degree of freedom fewer.
struct MeanEstimate {
  double value = 0;            // of all samples, in their unit
  std::optional<Interval> ci;  // none below 20 samples
  double confidence = 0.95;
  int batches = 0;
  std::string reason;  // why ci is missing
};
MeanEstimate mean_interval(std::span<const double> x, double confidence = 0.95);

struct RateEstimate {
  double per_s = 0;  // items per second
  std::optional<Interval> ci;
  double confidence = 0.95;
  int batches = 0;
  std::string reason;
};
// Items per second over the whole window: n * items / sum of periods, never a mean of rates. `periods_ns` are
// the times from one issue to the next (the last one: to its completion).
RateEstimate throughput_interval(std::span<const double> periods_ns, double items_per_period,
                                 double confidence = 0.95);

}  // namespace paceline::stats
