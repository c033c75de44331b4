// SPDX-License-Identifier: MIT
#include "stats/variance_components.h"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>
#include <cstddef>

#include "stats/spread.h"

namespace paceline::stats {
namespace {

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

// Sums of squares around the mean of each group and of the groups around the overall mean, and the counts.
struct Sums {
  double within = 0, between = 0, processes = 0, squared_sizes = 0;
};

Sums sums_of(std::span<const std::vector<double>> groups) {
  Sums sums;
  double total = 0;
  std::vector<std::vector<double>> logs;
  for (const auto& group : groups) {
    const auto size = static_cast<double>(group.size());
    logs.push_back(logarithms(group));
    total += mean(logs.back()) * size;
    sums.processes += size;
    sums.squared_sizes += size * size;
  }
  for (const auto& group : logs) {
    const double own = mean(group), off = own - total / sums.processes;
    for (const double x : group) sums.within += (x - own) * (x - own);
    sums.between += static_cast<double>(group.size()) * off * off;
  }
  return sums;
}

}  // namespace

std::optional<VarianceComponents> variance_components(std::span<const std::vector<double>> groups,
                                                      double confidence) {
  if (groups.size() < 2) return std::nullopt;
  if (std::any_of(groups.begin(), groups.end(), [](const auto& group) { return group.size() < 2; }))
    return std::nullopt;
  const Sums sums = sums_of(groups);
  VarianceComponents v;
  v.groups_df = static_cast<double>(groups.size() - 1);
  v.processes_df = sums.processes - static_cast<double>(groups.size());
  const double within = sums.within / v.processes_df, between = sums.between / v.groups_df;
  if (within <= 0) return std::nullopt;
  const double size = (sums.processes - sums.squared_sizes / sums.processes) / v.groups_df;
  v.within_frac = std::sqrt(within);
  v.between_frac = std::sqrt(std::max(0.0, (between - within) / size));
  v.f = between / within;
  const boost::math::fisher_f_distribution<double> distribution(v.groups_df, v.processes_df);
  v.f_critical = boost::math::quantile(distribution, confidence);
  return v;
}

}  // namespace paceline::stats
