// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "answer/verdict.h"
#include "stats/interval.h"

// Statistics of arrivals and completions (methodology: load scenarios). All times have one unit, which the
// caller chooses. A request that was given up has the end and latency kNever.
namespace paceline::stats {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// Fewest requests in one unbroken run for which the interval of a quantile has its coverage: 4000 / (1 -
// load)^2 above p90, else 500 / (1 - load)^2. `load` is the arrival rate over the saturation rate; none from
// 1 on.
std::optional<std::int64_t> required_requests(std::uint32_t ppm, double load);

// Growth of the number of requests in the system per unit of time: Theil-Sen over the backlog at the ends of
// 20 windows between the first and the last arrival. 0 below 21 requests.
double backlog_slope(std::span<const double> arrivals, std::span<const double> ends);

// The part of a closed loop with `in_flight` requests in flight: from the first to the last moment with that
// many. None when there was none.
std::optional<Interval> steady_window(std::span<const double> starts, std::span<const double> ends,
                                      std::int64_t in_flight);

// Time average of the requests in flight in a window, from counting starts and ends: Little's N. A lost
// completion raises it, an idle lane lowers it.
double mean_in_flight(std::span<const double> starts, std::span<const double> ends, const Interval& window);

// "The p-quantile of latency is at most the bound", judged on n requests of which `over` exceeded it; n_eff
// is the number of independent requests they are worth (methodology: load scenarios).
struct SloTest {
  answer::Verdict verdict = answer::Verdict::kCannotSay;
  std::int64_t n_eff = 0;
  std::int64_t over_eff = 0;       // ceil(over * n_eff / n)
  std::int64_t more_requests = 0;  // that would decide it, all else unchanged; 0 when decided
};
SloTest slo_test(std::int64_t n, std::int64_t over, double n_eff, double p, double confidence);

}  // namespace paceline::stats
