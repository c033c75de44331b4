// SPDX-License-Identifier: MIT
#include "stats/link_fit.h"

#include <algorithm>
#include <cmath>

#include "stats/student_t.h"

namespace paceline::stats {
namespace {

using Points = std::span<const MessageTime>;

constexpr std::size_t kPointsOfSegment = 3;
constexpr double kParametersOfOne = 3;  // alpha, beta, and the spread
constexpr double kParametersOfTwo = 6;  // twice alpha and beta, where they meet, and the spread
constexpr double kStrongEvidence = 6;   // difference of two BICs (Kass and Raftery 1995)
constexpr double kNoError = 1e-24;      // a squared relative error that is rounding

// Sums of the weighted normal equations: w = 1 / t^2.
struct WeightedSums {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  explicit WeightedSums(Points points) {
    for (const auto& p : points) {
      const double weight = 1 / (p.seconds * p.seconds);
      w += weight, wx += weight * p.bytes, wxx += weight * p.bytes * p.bytes;
      wy += weight * p.seconds, wxy += weight * p.bytes * p.seconds;
    }
  }
  [[nodiscard]] double determinant() const { return w * wxx - wx * wx; }
};

double squared_error(const LinkSegment& s, Points points) {
  double sum = 0;
  for (const auto& p : points) {
    const double error = (s.alpha_s + s.beta_s_per_byte * p.bytes - p.seconds) / p.seconds;
    sum += error * error;
  }
  return sum;
}

Interval around(double value, double halfwidth) {
  return {std::max(0.0, value - halfwidth), value + halfwidth};
}

LinkSegment fit_segment(Points points, double confidence) {
  const WeightedSums sums(points);
  const double determinant = sums.determinant();
  LinkSegment s{points.front().bytes, points.back().bytes};
  s.alpha_s = (sums.wxx * sums.wy - sums.wx * sums.wxy) / determinant;
  s.beta_s_per_byte = (sums.w * sums.wxy - sums.wx * sums.wy) / determinant;
  if (s.alpha_s < 0) {
    s.alpha_s = 0, s.beta_s_per_byte = sums.wxy / sums.wxx;
  } else if (s.beta_s_per_byte < 0) {
    s.alpha_s = sums.wy / sums.w, s.beta_s_per_byte = 0;
  } else {
    const auto freedom = static_cast<double>(points.size() - 2);
    const double variance = squared_error(s, points) / freedom, t = student_t(freedom, confidence);
    s.alpha_ci = around(s.alpha_s, t * std::sqrt(variance * sums.wxx / determinant));
    s.beta_ci = around(s.beta_s_per_byte, t * std::sqrt(variance * sums.w / determinant));
  }
  return s;
}

// Schwarz 1978; `squared` is the sum of squared relative errors.
double bic(double squared, std::size_t points, double parameters) {
  const auto n = static_cast<double>(points);
  return n * std::log(std::max(squared / n, kNoError)) + parameters * std::log(n);
}

bool one_size(Points points) {
  return points.front().bytes == points.back().bytes;
}

std::vector<LinkSegment> best_segments(Points points, double confidence) {
  std::vector<LinkSegment> best{fit_segment(points, confidence)};
  double lowest = bic(squared_error(best.front(), points), points.size(), kParametersOfOne) - kStrongEvidence;
  for (std::size_t cut = kPointsOfSegment; cut + kPointsOfSegment <= points.size(); ++cut) {
    const auto low = points.first(cut), high = points.subspan(cut);
    if (one_size(low) || one_size(high)) continue;
    const auto below = fit_segment(low, confidence), above = fit_segment(high, confidence);
    const double now =
        bic(squared_error(below, low) + squared_error(above, high), points.size(), kParametersOfTwo);
    if (now < lowest) lowest = now, best = {below, above};
  }
  return best;
}

}  // namespace

double LinkFit::seconds(double bytes) const {
  const auto& s = bytes < segments.back().from_bytes ? segments.front() : segments.back();
  return s.alpha_s + s.beta_s_per_byte * bytes;
}

std::optional<LinkFit> fit_link(Points points, double confidence) {
  if (points.size() < kPointsOfSegment || one_size(points)) return std::nullopt;
  LinkFit fit{best_segments(points, confidence)};
  double sum = 0;
  for (const auto& p : points) {
    const double error = std::abs(fit.seconds(p.bytes) - p.seconds) / p.seconds;
    sum += error * error;
  }
  fit.rms_error = std::sqrt(sum / static_cast<double>(points.size()));
  return fit;
}

}  // namespace paceline::stats
