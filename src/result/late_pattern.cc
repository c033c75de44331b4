// SPDX-License-Identifier: MIT
#include "result/late_pattern.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::result {
namespace {

constexpr double kApart = 4;        // standard deviations between late steps and the rest
constexpr double kOnTime = 0.25;    // lateness of the rest, relative to that of late steps
constexpr std::size_t kFewest = 2;  // late steps that are no single accident
constexpr std::size_t kFewestInARow = 5, kFewestPeriods = 4;

struct Sums {
  double n = 0, sum = 0, squares = 0;
  void add(double x) { n += 1, sum += x, squares += x * x; }
  [[nodiscard]] double mean() const { return n > 0 ? sum / n : 0; }
  [[nodiscard]] double about_mean() const { return std::max(0.0, squares - n * mean() * mean()); }
};

// The cut that leaves the least squares within two groups; late steps are those above it.
double cut_between(std::span<const double> lateness) {
  std::vector<double> sorted(lateness.begin(), lateness.end());
  std::ranges::sort(sorted);
  Sums below, above;
  for (const double x : sorted) above.add(x);
  double least = above.about_mean(), cut = sorted.front();
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    below.add(sorted[i]);
    above.n -= 1, above.sum -= sorted[i], above.squares -= sorted[i] * sorted[i];
    if (sorted[i] == sorted[i + 1] || below.about_mean() + above.about_mean() >= least) continue;
    least = below.about_mean() + above.about_mean();
    cut = sorted[i + 1];
  }
  return cut;
}

bool lies_apart(double distance, double deviation, double spread) {
  return distance > 0 && distance >= kApart * std::max(deviation, spread);
}

// The period of the late steps when each of its steps is late and no other; 0: none.
std::size_t period_of(const LatePattern& pattern) {
  if (pattern.count < kFewest) return 0;
  const auto next = std::ranges::find(pattern.late.begin() + static_cast<std::ptrdiff_t>(pattern.first) + 1,
                                      pattern.late.end(), true);
  const auto period = static_cast<std::size_t>(next - pattern.late.begin()) - pattern.first;
  if (period < 2 || pattern.first >= period) return 0;
  for (std::size_t i = 0; i < pattern.late.size(); ++i)
    if (pattern.late[i] != (i % period == pattern.first)) return 0;
  return period;
}

void set_places(LatePattern& pattern) {
  pattern.count = static_cast<std::size_t>(std::ranges::count(pattern.late, true));
  pattern.first = pattern.late.size(), pattern.last = 0;
  for (std::size_t i = 0; i < pattern.late.size(); ++i)
    if (pattern.late[i]) pattern.first = std::min(pattern.first, i), pattern.last = i;
  pattern.every = period_of(pattern);
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// Periods and first steps that put exactly `count` late steps into `n`.
double periodic_arrangements(std::size_t n, std::size_t count) {
  double all = 0;
  for (std::size_t period = 2; period <= n; ++period) {
    const std::size_t fewer = n / period, more = n % period;
    if (fewer + 1 == count) all += static_cast<double>(more);
    if (fewer == count) all += static_cast<double>(period - more);
  }
  return all;
}

}  // namespace

LatePattern late_pattern(std::span<const double> lateness, double spread) {
  LatePattern pattern;
  pattern.late.assign(lateness.size(), true);
  Sums all;
  for (const double x : lateness) all.add(x);
  pattern.clear = lies_apart(all.mean(), std::sqrt(all.about_mean() / std::max(1.0, all.n - 1)), spread);
  if (!pattern.clear && lateness.size() > kFewest) {
    const double cut = cut_between(lateness);
    Sums late, rest;
    for (const double x : lateness) (x >= cut ? late : rest).add(x);
    const double within = std::sqrt((late.about_mean() + rest.about_mean()) / std::max(1.0, all.n - 2));
    pattern.clear = late.n >= kFewest && rest.n > 0 &&
                    lies_apart(late.mean() - rest.mean(), within, spread) &&
                    std::abs(rest.mean()) <= kOnTime * late.mean();
    for (std::size_t i = 0; i < lateness.size() && pattern.clear; ++i) pattern.late[i] = lateness[i] >= cut;
  }
  set_places(pattern);
  return pattern;
}

double chance_of_pattern(const LatePattern& pattern, std::span<const double> lateness, std::size_t world) {
  const auto n = static_cast<double>(pattern.late.size()), count = static_cast<double>(pattern.count),
             ranks = static_cast<double>(world);
  if (!pattern.clear) return 1;
  if (pattern.always()) {
    if (pattern.count < kFewestInARow) return 1;
    const double error = stats::stddev(lateness).value_or(0) / std::sqrt(n);
    return error > 0 ? std::min(1.0, ranks * stats::student_t_above(n - 1, stats::mean(lateness) / error))
                     : 0;
  }
  double arrangements = 0;
  if (pattern.together() && pattern.count >= kFewestInARow) arrangements += n - count + 1;
  if (pattern.every > 0 && pattern.count >= kFewestPeriods)
    arrangements += periodic_arrangements(pattern.late.size(), pattern.count);
  if (arrangements == 0) return 1;
  return std::min(1.0,
                  std::exp(std::log(arrangements) - log_choose(n, count) + (1 - count) * std::log(ranks)));
}

}  // namespace paceline::result
