// SPDX-License-Identifier: MIT
#include "analysis/difference/mean_difference.h"

#include <algorithm>
#include <cmath>

#include "stats/autocorrelation.h"
#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::analysis::difference {
namespace {

constexpr std::size_t kFewestForDependence = 20;  // below, an autocorrelation is noise

double satterthwaite(double va, double da, double vb, double db) {
  const double sum = va + vb;
  const double parts = (da > 0 ? va * va / da : 0) + (db > 0 ? vb * vb / db : 0);
  return parts > 0 ? sum * sum / parts : 0;
}

bool equally_many(const std::vector<std::span<const double>>& parts) {
  return std::ranges::all_of(parts, [&](const auto& one) { return one.size() == parts.front().size(); });
}

}  // namespace

Mean mean_of(std::span<const double> times) {
  const double tau = times.size() < kFewestForDependence ? 1 : stats::tau_geyer(times);
  const double count = std::max(2.0, static_cast<double>(times.size()) / tau);
  const double sd = stats::stddev(times).value_or(0);
  return {stats::mean(times), sd * sd / count, count - 1};
}

Mean mean_of_sum(const std::vector<std::span<const double>>& parts) {
  if (parts.empty()) return {};
  if (equally_many(parts)) {
    std::vector<double> sums(parts.front().size());
    for (const auto& part : parts)
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
    return mean_of(sums);
  }
  Mean all;
  for (const auto& part : parts) all = sum_of(all, mean_of(part));
  return all;
}

Mean sum_of(const Mean& a, const Mean& b) {
  return {a.value + b.value, a.variance + b.variance,
          satterthwaite(a.variance, a.degrees_of_freedom, b.variance, b.degrees_of_freedom)};
}

stats::Interval MeanDifference::interval(double confidence) const {
  if (variance <= 0 || degrees_of_freedom <= 0) return {value, value};
  const double half = stats::student_t(degrees_of_freedom, confidence) * std::sqrt(variance);
  return {value - half, value + half};
}

MeanDifference difference_of(const Mean& a, const Mean& b) {
  return {b.value - a.value, a.variance + b.variance,
          satterthwaite(a.variance, a.degrees_of_freedom, b.variance, b.degrees_of_freedom)};
}

}  // namespace paceline::analysis::difference
