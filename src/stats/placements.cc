// SPDX-License-Identifier: MIT
#include "stats/placements.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace paceline::stats {
namespace {

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// Bound on the probability of at least `inside` marks in a set of `size` columns of one row.
double chance_inside(const MarkedTable& table, std::size_t size, std::size_t inside) {
  const auto n = static_cast<double>(table.columns), marks = static_cast<double>(table.marks),
             m = static_cast<double>(size), c = static_cast<double>(inside);
  if (inside > size || inside > table.marks) return 0;
  return std::exp(log_choose(marks, c) + log_choose(m, c) - log_choose(n, c) -
                  c * std::log(static_cast<double>(table.rows)));
}

}  // namespace

double chance_of_window(const MarkedTable& table, std::size_t misses) {
  double sum = 0;
  for (std::size_t inside = table.marks - std::min(misses, table.marks); inside <= table.marks; ++inside) {
    if (inside == 0) return 1;
    const std::size_t size = std::min(table.columns, misses + 2 * inside - table.marks);
    sum += static_cast<double>(table.columns - size + 1) * chance_inside(table, size, inside);
    if (sum >= 1) return 1;
  }
  return std::min(1.0, sum * static_cast<double>(table.rows));
}

double chance_of_period(const MarkedTable& table, std::size_t misses, std::size_t longest) {
  double sum = 0;
  for (std::size_t period = 2; period <= longest; ++period) {
    const std::size_t size = table.columns / period, longer = table.columns % period;
    for (const auto& [columns, sets] : {std::pair{size + 1, longer}, std::pair{size, period - longer}}) {
      const std::size_t cells = table.marks + columns;
      if (sets > 0 && cells <= misses) return 1;
      if (sets > 0)
        sum += static_cast<double>(sets) * chance_inside(table, columns, (cells - misses + 1) / 2);
    }
  }
  return std::min(1.0, sum * static_cast<double>(table.rows));
}

}  // namespace paceline::stats
