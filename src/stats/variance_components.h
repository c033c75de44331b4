// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>
#include <vector>

// Estimates what groups of processes vary by, apart from their processes (methodology: builds).
namespace paceline::stats {

// One-way analysis of variance with random groups, on logarithms, so that deviations are relative.
struct VarianceComponents {
  double within_frac = 0;   // standard deviation between processes of one group
  double between_frac = 0;  // between groups beyond what processes explain; 0 where nothing is left
  double f = 0;             // mean square between groups over mean square within
  double f_critical = 0;    // above it groups differ at the confidence asked for
  double groups_df = 0, processes_df = 0;
  [[nodiscard]] bool differ() const { return f > f_critical; }
};

// One value per process, above 0. None with fewer than two groups, with a group of fewer than two, or when
// all processes are equal, so that nothing tells how much they vary. Searle, Casella, McCulloch, Variance
// Components, 1992, chapter 3 (method of moments, groups of unequal size).
std::optional<VarianceComponents> variance_components(std::span<const std::vector<double>> groups,
                                                      double confidence = 0.95);

}  // namespace paceline::stats
