// SPDX-License-Identifier: MIT
// Computes Hartigan's dip statistic.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stats/noise.h"

// Hartigan and Hartigan 1985: the modal interval shrinks until the distance between the greatest convex
// minorant on its left and the least concave majorant on its right no longer grows. Heights are in samples:
// the distribution function steps from i to i + 1 at x[i].
namespace paceline::stats {
namespace {

// Piecewise linear: the least concave majorant of the steps' upper corners, or the greatest convex minorant
// of the lower ones, over x[low..high].
class Hull {
 public:
  Hull(std::span<const double> x, std::size_t low, std::size_t high, bool upper) : x_(x), upper_(upper) {
    for (std::size_t i = low; i <= high; ++i) {
      while (knots_.size() >= 2 && !bends(knots_[knots_.size() - 2], knots_.back(), i)) knots_.pop_back();
      knots_.push_back(i);
    }
  }
  [[nodiscard]] const std::vector<std::size_t>& knots() const { return knots_; }

  // Position in knots() of the last knot at or before i.
  [[nodiscard]] std::size_t left_of(std::size_t i) const {
    return static_cast<std::size_t>(std::upper_bound(knots_.begin(), knots_.end(), i) - knots_.begin()) - 1;
  }
  [[nodiscard]] double height(std::size_t i) const {
    const std::size_t position = left_of(i);
    const std::size_t a = knots_[position];
    const double base = static_cast<double>(a) + (upper_ ? 1 : 0);
    if (a == i || position + 1 == knots_.size()) return base;
    const std::size_t b = knots_[position + 1];
    const double run = x_[b] - x_[a];
    return run > 0 ? base + static_cast<double>(b - a) * (x_[i] - x_[a]) / run : base;
  }

 private:
  // Whether the middle one of three points is on the hull.
  [[nodiscard]] bool bends(std::size_t a, std::size_t b, std::size_t c) const {
    const double first = static_cast<double>(b - a) * (x_[c] - x_[b]);
    const double second = static_cast<double>(c - b) * (x_[b] - x_[a]);
    return upper_ ? first > second : first < second;
  }

  std::span<const double> x_;
  bool upper_;
  std::vector<std::size_t> knots_;
};

struct Modal {
  std::size_t low = 0;
  std::size_t high = 0;
  double distance = 0;  // the greatest distance between the hulls
};

// Shrinks to the knots around the greatest distance between the two hulls inside (low, high).
Modal widest(const Hull& minorant, const Hull& majorant, std::size_t low, std::size_t high) {
  Modal modal{low, high, 0};
  const auto consider = [&](std::size_t i, std::size_t new_low, std::size_t new_high) {
    const double distance = majorant.height(i) - minorant.height(i);
    if (i > low && i < high && distance > modal.distance) modal = {new_low, new_high, distance};
  };
  for (std::size_t i : minorant.knots()) {
    const auto& knots = majorant.knots();
    consider(i, i, *std::lower_bound(knots.begin(), knots.end(), i));
  }
  for (std::size_t i : majorant.knots()) consider(i, minorant.knots()[minorant.left_of(i)], i);
  return modal;
}

double above_minorant(const Hull& minorant, std::size_t low, std::size_t high) {
  double most = 0;
  for (std::size_t i = low; i <= high; ++i)
    most = std::max(most, static_cast<double>(i) + 1 - minorant.height(i));
  return most;
}

double below_majorant(const Hull& majorant, std::size_t low, std::size_t high) {
  double most = 0;
  for (std::size_t i = low; i <= high; ++i)
    most = std::max(most, majorant.height(i) - static_cast<double>(i));
  return most;
}

}  // namespace

double dip_statistic(std::span<const double> sorted) {
  const std::size_t n = sorted.size();
  if (n < 2 || sorted.front() == sorted.back()) return n == 0 ? 0 : 0.5 / static_cast<double>(n);
  double dip = 1;
  std::size_t low = 0;
  std::size_t high = n - 1;
  for (;;) {
    const Hull minorant(sorted, low, high, false);
    const Hull majorant(sorted, low, high, true);
    const Modal modal = widest(minorant, majorant, low, high);
    if (modal.distance < dip) break;
    dip =
        std::max({dip, above_minorant(minorant, low, modal.low), below_majorant(majorant, modal.high, high)});
    if (modal.low == low && modal.high == high) break;
    low = modal.low;
    high = modal.high;
  }
  return dip / (2 * static_cast<double>(n));
}

}  // namespace paceline::stats
