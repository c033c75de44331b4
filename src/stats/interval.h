// SPDX-License-Identifier: MIT
// An interval, and the reasons for having none.
#pragma once

namespace paceline::stats {

// Closed interval, in the unit of what it brackets.
struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Probability left in each tail of a two-sided interval: 0.95 -> 0.025.
constexpr double tail(double confidence) {
  return (1.0 - confidence) / 2.0;
}

// Why a number is missing; stored beside the null.
inline constexpr char kInsufficientSamples[] = "insufficient_samples";
inline constexpr char kBatched[] = "batched";
inline constexpr char kPipelined[] = "pipelined";

}  // namespace paceline::stats
