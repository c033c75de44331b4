// SPDX-License-Identifier: MIT
// Finds left-over warm-up in a measured series.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace paceline::stats {

// Start of the steady part of a measured series by MSER-5 on batch means of five winsorised samples
// (methodology: warm-up). Nothing is removed.
struct MserCut {
  std::int64_t cut = 0;      // first steady sample
  double median_before = 0;  // median before the cut; equals median_after without a cut
  double median_after = 0;
  bool residual_warmup = false;  // cut > 0 and the medians differ by more than 1 %
};
// None below 50 samples.
std::optional<MserCut> mser5(std::span<const double> x);

}  // namespace paceline::stats
