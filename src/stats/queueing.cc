// SPDX-License-Identifier: MIT
#include "stats/queueing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/noise.h"
#include "stats/order_statistics.h"
#include "stats/quantile.h"

namespace paceline::stats {
namespace {

constexpr double kRequestsTail = 4000, kRequestsBody = 500;
constexpr std::size_t kWindows = 20;

std::vector<double> sorted_finite(std::span<const double> x) {
  std::vector<double> out;
  for (const double v : x)
    if (std::isfinite(v)) out.push_back(v);
  std::sort(out.begin(), out.end());
  return out;
}

double at_or_before(const std::vector<double>& sorted, double t) {
  return static_cast<double>(std::upper_bound(sorted.begin(), sorted.end(), t) - sorted.begin());
}

// Whether n requests are enough, with the same share over the bound and the same dependence.
std::int64_t enough_requests(std::int64_t n, double share_over, double n_eff, double p, double confidence) {
  constexpr double kGrowth = 1.1, kLimit = 1e9;
  const double per_request = n_eff / static_cast<double>(n);
  for (double more = static_cast<double>(n) * kGrowth; more < kLimit; more *= kGrowth) {
    const auto m = static_cast<std::int64_t>(more * per_request);
    const auto over = static_cast<std::int64_t>(std::ceil(share_over * static_cast<double>(m)));
    if (binomial_cdf(m, 1 - p, over) <= 1 - confidence || binomial_cdf(m, 1 - p, over - 1) >= confidence)
      return static_cast<std::int64_t>(more);
  }
  return static_cast<std::int64_t>(kLimit);
}

}  // namespace

std::optional<std::int64_t> required_requests(std::uint32_t ppm, double load) {
  if (!(load < 1)) return std::nullopt;
  const double base = ppm > kPpmP90 ? kRequestsTail : kRequestsBody;
  return static_cast<std::int64_t>(std::ceil(base / ((1 - load) * (1 - load)) - 1e-6));
}

double backlog_slope(std::span<const double> arrivals, std::span<const double> ends) {
  if (arrivals.size() <= kWindows) return 0;
  const auto in = sorted_finite(arrivals), out = sorted_finite(ends);
  const double width = (in.back() - in.front()) / kWindows;
  if (width <= 0) return 0;
  std::vector<double> backlog;
  for (std::size_t w = 1; w <= kWindows; ++w) {
    const double t = in.front() + width * static_cast<double>(w);
    backlog.push_back(at_or_before(in, t) - at_or_before(out, t));
  }
  return theil_sen_slope(backlog) / width;
}

std::optional<Interval> steady_window(std::span<const double> starts, std::span<const double> ends,
                                      std::int64_t in_flight) {
  const auto in = sorted_finite(starts), out = sorted_finite(ends);
  std::optional<Interval> window;
  std::int64_t count = 0;
  std::size_t next_out = 0;
  for (const double t : in) {
    for (; next_out < out.size() && out[next_out] <= t; ++next_out) --count;
    if (++count < in_flight) continue;
    if (!window) window = Interval{t, t};
    window->high = next_out < out.size() ? out[next_out] : t;
  }
  return window;
}

double mean_in_flight(std::span<const double> starts, std::span<const double> ends, const Interval& window) {
  const double length = window.high - window.low;
  if (length <= 0) return 0;
  const auto inside = [&](double t) { return window.high - std::clamp(t, window.low, window.high); };
  double area = 0;
  for (const double t : starts) area += inside(t);
  for (const double t : ends) area -= inside(t);
  return area / length;
}

SloTest slo_test(std::int64_t n, std::int64_t over, double n_eff, double p, double confidence) {
  SloTest test;
  if (n <= 0) return test;
  test.n_eff = static_cast<std::int64_t>(std::min(n_eff, static_cast<double>(n)));
  const double share = static_cast<double>(over) / static_cast<double>(n);
  test.over_eff = static_cast<std::int64_t>(std::ceil(share * n_eff - 1e-9));
  if (test.n_eff >= 1 && binomial_cdf(test.n_eff, 1 - p, test.over_eff) <= 1 - confidence)
    test.verdict = answer::Verdict::kYes;
  else if (test.over_eff > 0 && binomial_cdf(test.n_eff, 1 - p, test.over_eff - 1) >= confidence)
    test.verdict = answer::Verdict::kNo;
  else
    test.more_requests = enough_requests(n, share, n_eff, p, confidence) - n;
  return test;
}

}  // namespace paceline::stats
