// SPDX-License-Identifier: MIT
#include "measure/arrivals.h"

#include <cmath>

#include "base/random.h"

namespace paceline::measure {

std::vector<std::int64_t> schedule_arrivals(ArrivalKind kind, double rate_per_s, std::int64_t count,
                                            std::uint64_t seed) {
  const CounterRng random(seed, hash64("arrivals"));
  const double mean_gap_ns = 1e9 / rate_per_s;
  std::vector<std::int64_t> times;
  times.reserve(static_cast<std::size_t>(count));
  double gaps = 0;  // in units of the mean gap
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    gaps += kind == ArrivalKind::kPoisson ? -std::log1p(-random.uniform(index)) : 1.0;
    times.push_back(std::llround(gaps * mean_gap_ns));
  }
  return times;
}

}  // namespace paceline::measure
