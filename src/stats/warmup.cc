// SPDX-License-Identifier: MIT
#include "stats/warmup.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "stats/quantile.h"
#include "stats/spread.h"

namespace paceline::stats {
namespace {

constexpr std::int64_t kRecentWindows = 10;
constexpr double kMedianEfficiency = 1.2533;  // standard error of a median relative to that of a mean

// Neighbouring windows agree within the tolerance, or within twice the standard error of the log ratio of
// their medians.
bool agree(std::span<const double> a, std::span<const double> b, double tolerance) {
  const double median_a = median(a);
  const double median_b = median(b);
  if (median_a <= 0 || median_b <= 0) return median_a == median_b;
  const double root_n = std::sqrt(static_cast<double>(b.size()));
  const double error = std::numbers::sqrt2 * kMedianEfficiency * kMadToSigma * mad(b) / (root_n * median_b);
  return std::abs(std::log(median_b / median_a)) <= std::max(tolerance, 2 * error);
}

}  // namespace

std::int64_t WarmupDetector::first_check() const {
  if (config_.mode == WarmupMode::kNone) return 0;
  if (config_.mode == WarmupMode::kAuto) return config_.window_min;
  return config_.fixed_iterations > 0 ? config_.fixed_iterations : std::int64_t{config_.fixed_ns > 0};
}

WarmupDecision WarmupDetector::add(std::span<const double> durations_ns, std::int64_t elapsed_ns) {
  durations_.insert(durations_.end(), durations_ns.begin(), durations_ns.end());
  if (config_.mode == WarmupMode::kNone) return {WarmupState::kDone, 0};
  return config_.mode == WarmupMode::kFixed ? fixed(elapsed_ns) : automatic(elapsed_ns);
}

WarmupDecision WarmupDetector::fixed(std::int64_t elapsed_ns) const {
  const auto n = static_cast<std::int64_t>(durations_.size());
  if (n >= config_.fixed_iterations && elapsed_ns >= config_.fixed_ns) return {WarmupState::kDone, 0};
  return {WarmupState::kWarming, std::max(n + 1, config_.fixed_iterations)};
}

WarmupDecision WarmupDetector::automatic(std::int64_t elapsed_ns) {
  const auto n = static_cast<std::int64_t>(durations_.size());
  if (window_ == 0) {
    if (n < config_.window_min) return {WarmupState::kWarming, first_check()};
    const auto first =
        std::span<const double>(durations_).first(static_cast<std::size_t>(config_.window_min));
    const double iteration_ns = std::max(median(first), 1.0);
    const auto fill = static_cast<std::int64_t>(std::ceil(std::min(config_.window_ns / iteration_ns, 1e9)));
    window_ = std::clamp(fill, config_.window_min, config_.window_max);
  }
  count_passes();
  const bool floor_met = n >= config_.floor_iterations && elapsed_ns >= config_.floor_ns;
  if (passes_ >= config_.passes && floor_met) return {WarmupState::kDone, 0};
  if (elapsed_ns >= config_.cap_ns) return {WarmupState::kNotReached, 0};
  if (floor_met && n >= config_.cap_iterations)
    return {recently_steady() ? WarmupState::kDone : WarmupState::kNotReached, 0};
  const auto next = (windows_ + 1) * window_;
  return {WarmupState::kWarming, floor_met ? std::min(next, config_.cap_iterations) : next};
}

// A fast body passes the cap before the floor time is over; one window that differs by chance must not
// decide.
bool WarmupDetector::recently_steady() const {
  return steady_at_ > 0 && windows_ - steady_at_ <= kRecentWindows;
}

// Judges every newly completed window against the one before it.
void WarmupDetector::count_passes() {
  const auto size = static_cast<std::size_t>(window_);
  const std::span<const double> all(durations_);
  while ((static_cast<std::size_t>(windows_) + 1) * size <= all.size()) {
    const auto begin = static_cast<std::size_t>(windows_++) * size;
    if (begin == 0) continue;
    const bool pass = agree(all.subspan(begin - size, size), all.subspan(begin, size), config_.tolerance);
    passes_ = pass ? passes_ + 1 : 0;
    if (passes_ >= config_.passes) steady_at_ = windows_;
  }
}

}  // namespace paceline::stats
