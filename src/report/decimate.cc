// SPDX-License-Identifier: MIT
#include "report/decimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace paceline::report {
namespace {

constexpr double kMinBins = 8, kMaxBins = 60;

double rank_of(const std::vector<double>& sorted, double p) {
  return sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size() - 1))];
}

// Freedman–Diaconis, kept between kMinBins and kMaxBins.
double bins_for(double range, double iqr, double n) {
  const double width = 2 * iqr / std::cbrt(n);
  return width > 0 ? std::clamp(std::ceil(range / width), kMinBins, kMaxBins) : kMinBins;
}

}  // namespace

std::vector<std::size_t> decimate(std::span<const double> values, std::size_t max_points) {
  std::vector<std::size_t> kept;
  if (values.size() <= max_points) {
    kept.resize(values.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    return kept;
  }
  const std::size_t stretches = std::max<std::size_t>(1, max_points / 2);
  for (std::size_t s = 0; s < stretches; ++s) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(s * values.size() / stretches);
    const auto to = values.begin() + static_cast<std::ptrdiff_t>((s + 1) * values.size() / stretches);
    const auto [low, high] = std::minmax_element(from, to);
    kept.push_back(static_cast<std::size_t>(std::min(low, high) - values.begin()));
    if (low != high) kept.push_back(static_cast<std::size_t>(std::max(low, high) - values.begin()));
  }
  return kept;
}

Histogram histogram(std::span<const double> values) {
  Histogram result;
  if (values.empty()) return result;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double iqr = rank_of(sorted, 0.75) - rank_of(sorted, 0.25);
  const double high = std::min(sorted.back(), rank_of(sorted, 0.99) + 3 * iqr);
  result.low = sorted.front();
  const double range = std::max(high - result.low, std::abs(result.low) * 1e-9 + 1e-12);
  const double bins = bins_for(range, iqr, static_cast<double>(sorted.size()));
  result.bin_width = range / bins;
  result.counts.assign(static_cast<std::size_t>(bins), 0);
  for (const double value : sorted) {
    const auto bin = static_cast<std::size_t>((value - result.low) / result.bin_width);
    if (value > high)
      ++result.beyond;
    else
      ++result.counts[std::min(bin, result.counts.size() - 1)];
  }
  return result;
}

}  // namespace paceline::report
