// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/quantile.h"

// Decides when enough has been measured (methodology: stop rule). Pure: the caller owns clock and samples.
namespace paceline::stats {

// A wanted precision; a quantile without a row uses the nearest row below it.
struct Precision {
  std::uint32_t ppm = 0;
  double rel_halfwidth = 0;  // of the interval
  double tau_guard = 0;      // n must be this many autocorrelation times
};

struct StopConfig {
  double confidence = 0.95;
  std::int64_t n_min = 30;
  std::int64_t n_max = 100'000;
  std::int64_t t_min_ns = 1'000'000'000;
  std::int64_t t_max_ns = 60'000'000'000;
  double check_growth = 1.25;
  std::vector<std::uint32_t> quantiles_ppm = {
      kPpmP50};  // these must reach their precision; others never prolong a run
  std::vector<Precision> precisions = {{kPpmP50, 0.01, 50}, {kPpmP90, 0.02, 100}, {kPpmP99, 0.05, 100}};
};

inline constexpr char kStopConverged[] = "converged";
inline constexpr char kStopMaxSamples[] = "n_max";
inline constexpr char kStopMaxTime[] = "t_max";
inline constexpr char kStopMinimum[] = "minimum_met";  // no quantile was asked for: n_min and t_min
inline constexpr char kStopFixed[] = "fixed_iterations";
inline constexpr char kStopInterrupted[] = "interrupted";

struct StopDecision {
  bool stop = false;
  std::optional<bool> converged;   // none: not applicable (a fixed count, or no wanted quantile)
  std::string reason;              // one of kStop…; empty while measuring continues
  std::vector<std::string> unmet;  // conditions that do not hold, in words
  std::int64_t next_n = 0;         // next checkpoint; meaningless when stopping
  QuantileEstimate first;          // the first wanted quantile (else p50), for progress
  bool extended = false;           // the series was doubled because of left-over warm-up
};

// Judges n samples at a checkpoint. elapsed_ns counts from the start of measuring.
StopDecision decide(std::span<const double> x, std::int64_t elapsed_ns, const StopConfig& config);

// ceil(growth * n), at least n_min and n + 1, at most n_max; earlier when t_max would come first.
std::int64_t next_checkpoint(std::int64_t n, std::int64_t elapsed_ns, const StopConfig& config);

const Precision& precision_of(const StopConfig& config, std::uint32_t ppm);

}  // namespace paceline::stats
