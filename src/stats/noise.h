// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

// Diagnostics of a measured series (methodology: noise diagnostics).
namespace paceline::stats {

inline constexpr double kDriftWarnFrac = 0.01;
inline constexpr double kDriftInvalidFrac = 0.05;

inline constexpr double kDriftZ = 2.58;  // 99 % two-sided

// Trend over the window: Mann-Kendall on 20 block medians, Theil-Sen for its size.
struct Drift {
  double z = 0;           // Mann-Kendall, tie-corrected
  double total_frac = 0;  // change over the whole window relative to the median; negative: getting faster
  bool flagged = false;   // |z| > 2.58 and |total_frac| >= 1 %
  bool invalid = false;   // flagged and |total_frac| >= 5 %
};
// None below 20 samples or for a median <= 0.
std::optional<Drift> drift(std::span<const double> x);

// Median of the slopes between all pairs, per step.
double theil_sen_slope(std::span<const double> y);

// Whether consecutive values are alike: the rank version of von Neumann's ratio (Bartels 1982) as a standard
// normal z, positive where neighbours are closer than by chance. None below 10 values.
std::optional<double> succession_z(std::span<const double> x);

// Hartigan's dip: greatest distance of the empirical distribution from the nearest unimodal one.
double dip_statistic(std::span<const double> sorted);

// The samples plus uniform jitter of +-resolution/2 (fixed seed), so that ties are no modes.
std::vector<double> jitter_ties(std::span<const double> x, double resolution);

struct Mode {
  double median = 0;  // of the samples in this mode, in their unit
  double share = 0;   // of all samples
};
// Modes of a Gaussian kernel estimate: mass >= 10 % and a valley <= half of the smaller peak between
// neighbours.
std::vector<Mode> kde_modes(std::span<const double> sorted);

struct Multimodality {
  bool flagged = false;
  std::string rule;         // "dip", "kde" or "" when not flagged
  double dip_sqrt_n = 0;    // sqrt(n) * dip; above 0.60 is flagged
  std::vector<Mode> modes;  // when flagged and separable, ascending; else empty
};
// None below 50 samples; the kernel rule needs 300. `resolution` is the clock's, in the unit of the samples;
// 0: no jitter.
std::optional<Multimodality> multimodality(std::span<const double> x, double resolution);

// Whether two samples' mode shares differ by more than 10 points, so that one median cannot speak for both.
bool mode_shares_differ(const Multimodality& a, const Multimodality& b);

}  // namespace paceline::stats
