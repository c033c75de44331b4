// SPDX-License-Identifier: MIT
#include "workload/inference/capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "stats/quantile.h"
#include "stats/queueing.h"

namespace paceline::workload {
namespace {

constexpr double kTolerance = 0.01;   // of the rate
constexpr double kLowestLoad = 0.01;  // below it nothing is searched
constexpr double kStepDown = 0.95;
constexpr int kSeeds = 3, kSteps = 6;
constexpr double kCountedShare = 0.9;

class Search {
 public:
  Search(const CapacityLimits& limits, const RunTrial& run)
      : limits_(limits), run_(run), ppm_(static_cast<std::uint32_t>(std::llround(limits.p * 1e6))) {}

  result::Capacity find() {
    double rate = bisect();
    for (int step = 0; step < kSteps && rate >= kLowestLoad * limits_.saturation_per_s; ++step) {
      if (!affordable(rate, kSeeds * long_run(rate))) break;
      if (holds(rate)) {
        found_.per_s = rate;
        return found_;
      }
      rate *= kStepDown;
    }
    if (reason_.empty()) reason_ = "no rate above 1 % of saturation holds the objective";
    found_.per_s = result::Number::missing(reason_);
    return found_;
  }

 private:
  [[nodiscard]] std::int64_t long_run(double rate) const {
    return stats::required_requests(ppm_, rate / limits_.saturation_per_s).value_or(limits_.max_requests);
  }
  [[nodiscard]] std::int64_t short_run(double rate) const {
    return stats::required_requests(stats::kPpmP50, rate / limits_.saturation_per_s)
        .value_or(limits_.max_requests);
  }

  // Requests and time for this, and for the long runs that must follow at the same rate.
  bool affordable(double rate, std::int64_t requests) {
    const double seconds = static_cast<double>(long_run(rate)) / kCountedShare / rate;
    if (used_ + requests > limits_.max_requests)
      reason_ =
          fmt::format("the search is capped at {} requests (server.max_requests)", limits_.max_requests);
    else if (seconds > limits_.t_max_s)
      reason_ = fmt::format("a run that is long enough at {}/s takes {}, more than server.t_max_s",
                            format_rate(rate), format_time_left(seconds));
    else
      return true;
    return false;
  }

  result::SloResult trial(double rate, std::int64_t requests, bool final_run) {
    const auto slo = run_({rate, requests, static_cast<std::uint64_t>(found_.trials.size()) + 1});
    used_ += requests;
    found_.trials.push_back({rate, requests, slo.over, final_run, slo.verdict});
    return slo;
  }

  // The highest rate whose short run had few enough late requests; 0 when none had.
  double bisect() {
    double low = 0, high = limits_.saturation_per_s;
    while (high - low > kTolerance * high && high > kLowestLoad * limits_.saturation_per_s) {
      const double rate = (low + high) / 2;
      const std::int64_t requests = short_run(rate);
      // What cannot be confirmed is not worth a trial; at low rates the time is short, at high ones requests.
      const bool holds = affordable(rate, requests + kSeeds * long_run(rate)) && few_late(rate, requests);
      (holds ? low : high) = rate;
    }
    return low;
  }

  bool few_late(double rate, std::int64_t requests) {
    const auto slo = trial(rate, requests, false);
    return static_cast<double>(slo.over) <= (1 - limits_.p) * static_cast<double>(requests);
  }

  bool holds(double rate) {
    for (int seed = 0; seed < kSeeds; ++seed)
      if (trial(rate, long_run(rate), true).verdict != "met") return false;
    return true;
  }

  const CapacityLimits& limits_;
  const RunTrial& run_;
  std::uint32_t ppm_;
  std::int64_t used_ = 0;
  std::string reason_;
  result::Capacity found_;
};

}  // namespace

std::string cost_in_words(const CapacityLimits& limits) {
  const auto ppm = static_cast<std::uint32_t>(std::llround(limits.p * 1e6));
  const double half = static_cast<double>(stats::required_requests(ppm, 0.5).value_or(0)) / kCountedShare;
  return fmt::format("capacity search: at most {} requests; at half of {}/s the {} long runs alone take {}",
                     limits.max_requests, format_rate(limits.saturation_per_s), kSeeds,
                     format_time_left(kSeeds * half / (limits.saturation_per_s / 2)));
}

result::Capacity search_capacity(const CapacityLimits& limits, const RunTrial& run) {
  return Search(limits, run).find();
}

}  // namespace paceline::workload
