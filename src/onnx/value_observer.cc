// SPDX-License-Identifier: MIT
#include "onnx/value_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace paceline::onnx {
namespace {

constexpr std::size_t kLevels = 128;  // magnitudes of a signed 8-bit number

struct MethodRow {
  RangeMethod method;
  std::string_view name;
};
constexpr MethodRow kMethods[] = {{RangeMethod::kMinMax, "minmax"},
                                  {RangeMethod::kPercentile, "percentile"},
                                  {RangeMethod::kEntropy, "entropy"}};

using Counts = std::vector<double>;

// The level of a bin when `bins` bins share 128 levels; every level has at least one bin from 128 bins on.
std::size_t level_of(std::size_t bin, std::size_t bins) {
  return bin * kLevels / bins;
}

// The first `bins` counts with only 128 levels: each level's count is spread evenly over its nonempty bins.
Counts coarsened(const Counts& counts, std::size_t bins) {
  std::array<double, kLevels> sum{}, filled{};
  for (std::size_t b = 0; b < bins; ++b)
    if (counts[b] > 0) sum[level_of(b, bins)] += counts[b], filled[level_of(b, bins)] += 1;
  Counts result(bins);
  for (std::size_t b = 0; b < bins; ++b)
    if (counts[b] > 0) result[b] = sum[level_of(b, bins)] / filled[level_of(b, bins)];
  return result;
}

// Σ p·ln(p/q) of two histograms, each divided by its sum; infinite where q is 0 and p is not.
double divergence(const Counts& p, const Counts& q) {
  const double sum_p = std::accumulate(p.begin(), p.end(), 0.0),
               sum_q = std::accumulate(q.begin(), q.end(), 0.0);
  double total = 0;
  for (std::size_t b = 0; b < p.size(); ++b) {
    if (p[b] == 0) continue;
    if (q[b] == 0) return std::numeric_limits<double>::infinity();
    total += p[b] / sum_p * std::log(p[b] / sum_p * sum_q / q[b]);
  }
  return total;
}

// Information lost by clipping at `bins`; the reference adds what lies beyond to its last bin.
double clipping_loss(const Counts& counts, std::size_t bins, double beyond) {
  Counts reference(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(bins));
  reference.back() += beyond;
  return divergence(reference, coarsened(counts, bins));
}

std::vector<std::uint64_t> pairs_merged(const std::vector<std::uint64_t>& bins) {
  std::vector<std::uint64_t> merged(bins.size());
  for (std::size_t b = 0; b < bins.size() / 2; ++b) merged[b] = bins[2 * b] + bins[2 * b + 1];
  return merged;
}

}  // namespace

std::string_view range_method_name(RangeMethod method) {
  return std::find_if(std::begin(kMethods), std::end(kMethods),
                      [&](const auto& r) { return r.method == method; })
      ->name;
}

RangeMethod parse_range_method(std::string_view name) {
  for (const auto& row : kMethods)
    if (row.name == name) return row.method;
  throw Error(ErrorCode::kConfig,
              fmt::format("'{}' is no calibration method; there are minmax, percentile and entropy", name));
}

void ValueObserver::add(std::span<const float> values) {
  float largest = 0;
  for (const float value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  int exponent = exponent_;
  if (largest > 0) std::frexp(largest, &exponent);
  grow_to(exponent);
  for (const float value : values) count_value(value);
}

void ValueObserver::count_value(float value) {
  if (!std::isfinite(value)) {
    ++not_finite_;
    return;
  }
  ++count_;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
  const auto bin = static_cast<std::size_t>(std::abs(static_cast<double>(value)) / bin_width());
  ++(value < 0 ? negative_ : positive_)[std::min(bin, kBins - 1)];
}

void ValueObserver::grow_to(int exponent) {
  if (count_ == 0) exponent_ = std::max(exponent_, exponent);
  for (; exponent_ < exponent; ++exponent_) {
    negative_ = pairs_merged(negative_);
    positive_ = pairs_merged(positive_);
  }
}

void ValueObserver::merge(const ValueObserver& other) {
  ValueObserver same = other;
  grow_to(other.exponent_);
  same.grow_to(exponent_);
  for (std::size_t b = 0; b < kBins; ++b) {
    negative_[b] += same.negative_[b];
    positive_[b] += same.positive_[b];
  }
  count_ += other.count_;
  not_finite_ += other.not_finite_;
  low_ = std::min(low_, other.low_);
  high_ = std::max(high_, other.high_);
}

double ValueObserver::bin_width() const {
  return std::ldexp(1.0, exponent_) / static_cast<double>(kBins);
}

ValueObserver::Bins ValueObserver::magnitudes() const {
  Bins sum = negative_;
  for (std::size_t b = 0; b < kBins; ++b) sum[b] += positive_[b];
  return sum;
}

double ValueObserver::percentile_threshold(double percentile) const {
  const Bins bins = magnitudes();
  const double wanted = percentile / 100.0 * static_cast<double>(count_);
  double seen = 0;
  for (std::size_t b = 0; b < kBins; ++b) {
    seen += static_cast<double>(bins[b]);
    if (seen >= wanted) return static_cast<double>(b + 1) * bin_width();
  }
  return static_cast<double>(kBins) * bin_width();
}

double ValueObserver::entropy_threshold() const {
  const Bins fine = pairs_merged(magnitudes());
  std::size_t used = kBins / 2;
  while (used > 0 && fine[used - 1] == 0) --used;
  Counts counts(fine.begin(), fine.begin() + static_cast<std::ptrdiff_t>(used));
  const double width = 2 * bin_width();
  if (used <= kLevels) return static_cast<double>(used) * width;
  counts[0] = counts[1];  // zeros, most of what a Relu outputs, lose nothing at any threshold
  double beyond = 0, best = std::numeric_limits<double>::infinity();
  std::size_t chosen = used;
  for (std::size_t bins = used; bins >= kLevels; --bins) {
    const double loss = clipping_loss(counts, bins, beyond);
    if (loss < best) best = loss, chosen = bins;
    beyond += counts[bins - 1];
  }
  return static_cast<double>(chosen) * width;
}

Range ValueObserver::range(const RangeRule& rule) const {
  if (count_ == 0 || rule.method == RangeMethod::kMinMax) return {low_, high_};
  const auto threshold = static_cast<float>(
      rule.method == RangeMethod::kEntropy ? entropy_threshold() : percentile_threshold(rule.percentile));
  return {std::max(low_, -threshold), std::min(high_, threshold)};
}

}  // namespace paceline::onnx
