// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "result/load.h"

// The highest rate of arrivals that holds a latency objective (methodology: load scenarios).
namespace paceline::workload {

struct CapacityLimits {
  double saturation_per_s = 0;
  double p = 0.99;                // of the objective
  std::int64_t max_requests = 0;  // of the whole search
  double t_max_s = 0;             // of one run
};

struct TrialRun {
  double rate_per_s = 0;
  std::int64_t counted = 0;  // requests after the warm-up part
  std::uint64_t seed = 0;    // added to that of the schedule: no two trials share one
};
// Runs a trial; the objective's figures of its requests.
using RunTrial = std::function<result::SloResult(const TrialRun&)>;

// Most requests that any search within the limits issues, and how long the long runs at half load take: said
// beforehand.
std::string cost_in_words(const CapacityLimits& limits);

// Short runs bisect the rate to 1 %; then three long ones with other seeds at what is left, all of which must
// hold, else 5 % less. Ends without a rate, and with the reason, when the limits do not allow it.
result::Capacity search_capacity(const CapacityLimits& limits, const RunTrial& run);

}  // namespace paceline::workload
