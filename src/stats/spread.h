// SPDX-License-Identifier: MIT
// Mean, standard deviation and MAD in the unit of the samples; all throw Error(kInternal) for an empty
// sample.
#pragma once
#include <optional>
#include <span>

namespace paceline::stats {

// Makes the MAD of a normal sample estimate its standard deviation.
inline constexpr double kMadToSigma = 1.4826;

double mean(std::span<const double> x);
// Sample standard deviation (n - 1); none below two samples.
std::optional<double> stddev(std::span<const double> x);
// Median absolute deviation from the median, unscaled.
double mad(std::span<const double> x);
double minimum(std::span<const double> x);
double maximum(std::span<const double> x);

// Median absolute deviation of the samples at or below (low) and at or above (high) the median, unscaled.
struct DoubleMad {
  double median = 0;
  double low = 0;
  double high = 0;
};
DoubleMad double_mad(std::span<const double> x);

}  // namespace paceline::stats
