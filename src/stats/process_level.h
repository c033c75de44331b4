// SPDX-License-Identifier: MIT
// Intervals and spreads over per-process values: the process is the unit of repetition (methodology: levels).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/interval.h"

namespace paceline::stats {

// Median of R per-process values with an interval over processes, in the unit of the values.
struct ProcessEstimate {
  std::int64_t processes = 0;
  double value = 0;            // median over processes
  std::optional<Interval> ci;  // order statistics from the R on that the confidence needs (6 at 95 %, 8 at
                               // 99 %); 2 <= R below that: Student's t on logs; else none
  std::string
      ci_method;  // binomial_processes (order statistics) | t_log_processes; empty without an interval
  double confidence = 0.95;
  std::optional<double> actual_coverage;  // exact, for order statistics
  std::string reason;                     // why ci is missing
};
// Values must be > 0 for the t interval; with fewer than six processes and a value <= 0 there is no interval.
ProcessEstimate over_processes(std::span<const double> values, double confidence = 0.95);

// How much samples vary inside a process and medians between processes, as 1.4826 * MAD / median.
struct ProcessSpread {
  std::optional<double> within_frac;   // median over processes; none when no process has two samples
  std::optional<double> between_frac;  // of the per-process medians; none below two processes
};
ProcessSpread process_spread(std::span<const std::vector<double>> processes);

// Throws Error(kInternal) for an empty process.
std::vector<double> process_medians(std::span<const std::vector<double>> processes);

}  // namespace paceline::stats
