// SPDX-License-Identifier: MIT
// Summarizes the times of all ranks to the figures of a collective. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "result/stored/collective.h"
#include "result/stored/samples.h"

namespace paceline::result {

// `collective` holds what only a worker knows (operation, backend, launcher, ranks, notes); everything that
// follows from the times is filled in. With six or more repetitions intervals are over their medians
// (methodology: levels). Throws Error(kData) where ranks have not measured the same operations.
void summarize_collective(CollectiveResult& collective, const TimesOfRepetitions& times, double confidence);

// The bus bandwidth that the fitted link gives for a size; missing without a fit, a bus or bytes.
Number fitted_busbw(const CollectiveResult& collective, std::int64_t bytes);

// The operations of the largest size, one by one, as samples: the time of the slowest rank.
std::vector<Sample> largest_size_samples(const std::vector<CollectiveTimes>& times, std::int32_t repetition);

}  // namespace paceline::result
