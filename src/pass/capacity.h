// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "result/stored/load.h"

// Searches the highest rate of arrivals that holds a latency objective (methodology: load scenarios).
namespace paceline::pass {

struct CapacityLimits {
  double saturation_per_s = 0;
  double p = 0.99;                // quantile of the objective
  std::int64_t max_requests = 0;  // of the whole search
  double t_max_s = 0;             // of one run
};

struct TrialRun {
  double rate_per_s = 0;
  std::int64_t counted = 0;  // requests after the warm-up part
  std::uint64_t seed = 0;    // added to that of the schedule: no two trials share one
};
struct TrialOutcome {
  result::SloResult slo;     // the objective's figures for these requests
  bool issued_late = false;  // by the harness, so that a miss proves nothing
};
using RunTrial = std::function<TrialOutcome(const TrialRun&)>;

// The most requests of a search within the limits, and about how long it takes; shown before it starts.
std::string cost_in_words(const CapacityLimits& limits);

// How long a search takes when the rate it finds is about the highest that the limits can confirm; 0 where
// they allow no rate at all and the search ends at once.
double expected_seconds(const CapacityLimits& limits);

// Short runs narrow the limit down to 1 % of the rate between one that holds and one that misses twice. Then
// three long runs with other seeds at the highest rate that holds and that the limits allow to confirm; all
// of them must hold, else 5 % less is tried. Ends without a rate, and with the reason, when the limits do not
// allow it; without an upper end where no higher rate was seen to miss.
result::Capacity search_capacity(const CapacityLimits& limits, const RunTrial& run);

}  // namespace paceline::pass
