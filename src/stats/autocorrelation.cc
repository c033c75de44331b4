// SPDX-License-Identifier: MIT
#include "stats/autocorrelation.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "stats/spread.h"

namespace paceline::stats {
namespace {

constexpr std::size_t kLongest = 20'000;  // above this the series is compressed to batch means

std::vector<double> centred(std::span<const double> x) {
  const double m = mean(x);
  std::vector<double> c(x.begin(), x.end());
  for (double& v : c) v -= m;
  return c;
}

// Sum of products `lag` apart: n times the autocovariance.
double product_sum(std::span<const double> c, std::size_t lag) {
  double sum = 0;
  for (std::size_t i = lag; i < c.size(); ++i) sum += c[i] * c[i - lag];
  return sum;
}

double mean_square(std::span<const double> c) {
  return product_sum(c, 0) / static_cast<double>(c.size());
}

// -1 + 2 * sum of the running minimum of rho(2k) + rho(2k+1), as long as that is positive.
double initial_monotone_sequence(std::span<const double> c, double variance_sum) {
  double tau = -1;
  double smallest = 2;
  for (std::size_t lag = 0; lag + 1 < c.size(); lag += 2) {
    const double pair = (product_sum(c, lag) + product_sum(c, lag + 1)) / variance_sum;
    if (pair <= 0) break;
    smallest = std::min(smallest, pair);
    tau += 2 * smallest;
  }
  return tau;
}

std::vector<double> batch_means_of(std::span<const double> c, std::size_t batch) {
  std::vector<double> means(c.size() / batch);
  for (std::size_t i = 0; i < means.size(); ++i) means[i] = mean(c.subspan(i * batch, batch));
  return means;
}

}  // namespace

double tau_geyer(std::span<const double> x) {
  if (x.size() < 4) return 1;
  const auto c = centred(x);
  const double variance = mean_square(c);
  if (variance <= 0) return 1;
  if (x.size() <= kLongest) {
    return std::max(1.0, initial_monotone_sequence(c, variance * static_cast<double>(c.size())));
  }
  const std::size_t batch = (x.size() + kLongest - 1) / kLongest;
  const auto means = centred(batch_means_of(c, batch));
  const double batch_variance = mean_square(means);
  if (batch_variance <= 0) return 1;
  const double tau = initial_monotone_sequence(means, batch_variance * static_cast<double>(means.size()));
  return std::max(1.0, static_cast<double>(batch) * std::max(1.0, tau) * batch_variance / variance);
}

double lag1_autocorrelation(std::span<const double> x) {
  if (x.size() < 2) return 0;
  const auto c = centred(x);
  const double variance_sum = product_sum(c, 0);
  return variance_sum > 0 ? product_sum(c, 1) / variance_sum : 0;
}

}  // namespace paceline::stats
