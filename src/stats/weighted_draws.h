// SPDX-License-Identifier: MIT
#pragma once
#include <span>

namespace paceline::stats {

// Bound on the probability that draws of weights sum to at least `sum`, where each weight is drawn
// independently with probability `p` (Chernoff: the least of E[exp(tS)] / exp(t sum) over t >= 0). Exact
// where `sum` is the total of all weights: p^n. 1 where `sum` is at most the expected sum. Weights >= 0, 0 <
// p < 1.
double chance_of_draws(std::span<const double> weights, double p, double sum);

}  // namespace paceline::stats
