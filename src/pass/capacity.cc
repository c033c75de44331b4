// SPDX-License-Identifier: MIT
#include "pass/capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.h"
#include "stats/quantile.h"
#include "stats/queueing.h"

namespace paceline::pass {
namespace {

constexpr double kTolerance = 0.01;   // relative, of the rate
constexpr double kLowestLoad = 0.01;  // no search below this load
constexpr double kStepDown = 0.95;    // the next rate after long runs of which one missed
constexpr double kScanDown = 0.99;    // the next rate when looking for one that can be confirmed
constexpr int kSeeds = 3, kSteps = 12;
constexpr int kProbes = 2;  // this many short runs must miss: a single one may have met a disturbance
constexpr std::int64_t kShortestProbes = 60;  // no short run takes more than 1/60 of the search's requests
constexpr std::int64_t kConfirmShare = 2;     // 1/2 of the requests are left for the long runs
constexpr double kCountedShare = 0.9;
constexpr double kMissConfidence = 0.99;                       // that a rate misses
constexpr double kTypicalShortRuns = 10, kTypicalShare = 0.7;  // a limit further down is confirmed sooner

class Search {
 public:
  Search(const CapacityLimits& limits, const RunTrial& run)
      : limits_(limits), run_(run), ppm_(static_cast<std::uint32_t>(std::llround(limits.p * 1e6))) {}

  // The highest rate that can still be confirmed when the short runs have used all they may; 0: none.
  double highest() {
    used_ = limits_.max_requests / kConfirmShare;
    const double rate = confirmable(limits_.saturation_per_s * kScanDown);
    used_ = 0;
    return rate;
  }

  double expected_seconds() {
    const double rate = highest();
    if (rate <= 0) return 0;
    const auto seconds = [&](std::int64_t requests) {
      return static_cast<double>(requests) / kCountedShare / rate;
    };
    return kTypicalShare * (kTypicalShortRuns * seconds(short_run(rate)) + kSeeds * seconds(long_run(rate)));
  }

  result::Capacity find() {
    if (highest() > 0) search();
    if (!found_.per_s) found_.per_s = found_.missed_per_s = Number::missing(reason_);
    if (found_.per_s) bracket();
    return found_;
  }

 private:
  [[nodiscard]] double load(double rate) const { return rate / limits_.saturation_per_s; }
  [[nodiscard]] std::int64_t long_run(double rate) const {
    return stats::required_requests(ppm_, load(rate)).value_or(limits_.max_requests);
  }
  [[nodiscard]] std::int64_t short_run(double rate) const {
    return std::min(stats::required_requests(stats::kPpmP50, load(rate)).value_or(limits_.max_requests),
                    limits_.max_requests / kShortestProbes);
  }

  bool short_enough(double rate, std::int64_t requests) {
    const double seconds = static_cast<double>(requests) / kCountedShare / rate;
    if (seconds <= limits_.t_max_s) return true;
    reason_ = fmt::format("a run that is long enough at {}/s takes {}, more than server.t_max_s",
                          format_rate(rate), format_time_left(seconds));
    return false;
  }
  // Whether the limits leave requests and time for the long runs at a rate.
  bool affordable(double rate) {
    if (used_ + kSeeds * long_run(rate) <= limits_.max_requests) return short_enough(rate, long_run(rate));
    reason_ = fmt::format("the search is capped at {} requests (server.max_requests)", limits_.max_requests);
    return false;
  }

  // The highest rate up to this one for which the long runs fit the limits; 0: none. At low rates they run
  // out of time, at high rates out of requests.
  double confirmable(double rate) {
    for (; rate >= kLowestLoad * limits_.saturation_per_s; rate *= kScanDown)
      if (affordable(rate)) return rate;
    return 0;
  }

  result::CapacityTrial trial(double rate, std::int64_t requests, bool long_run) {
    const auto outcome = run_({rate, requests, static_cast<std::uint64_t>(found_.trials.size()) + 1});
    const auto& slo = outcome.slo;
    used_ += requests;
    found_.trials.push_back({rate, requests, slo.over, long_run, outcome.issued_late, slo.verdict});
    const auto test =
        stats::slo_test(requests, slo.over, static_cast<double>(slo.n_eff), limits_.p, kMissConfidence);
    if (test.verdict == answer::Verdict::kNo && !outcome.issued_late) ++clear_misses_[rate];
    return found_.trials.back();
  }

  void search() {
    reason_.clear();
    const double low = bisect();
    if (low > 0)
      confirm(confirmable(low));
    else if (reason_.empty())
      reason_ = "no rate above 1 % of saturation holds the objective";
  }

  // The highest rate whose short runs had few enough late requests; 0 when there was none.
  double bisect() {
    double low = 0, high = limits_.saturation_per_s;
    while (high - low > kTolerance * high && high > kLowestLoad * limits_.saturation_per_s) {
      const double rate = (low + high) / 2;
      if (!short_enough(rate, short_run(rate))) break;
      (few_late(rate) ? low : high) = rate;
    }
    return low;
  }

  bool few_late(double rate) {
    for (int probe = 0; probe < kProbes; ++probe) {
      const auto run = trial(rate, short_run(rate), false);
      if (static_cast<double>(run.over) <= (1 - limits_.p) * static_cast<double>(run.requests)) return true;
    }
    return false;
  }

  void confirm(double rate) {
    for (int step = 0; step < kSteps && rate > 0; ++step) {
      if (holds(rate)) {
        found_.per_s = rate;
        return;
      }
      reason_ = fmt::format("long runs did not confirm {}/s", format_rate(rate));
      rate = confirmable(rate * kStepDown);
    }
  }

  bool holds(double rate) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      const auto run = trial(rate, long_run(rate), true);
      if (run.verdict == answer::Verdict::kNo && !run.issued_late) clear_misses_[rate] = kProbes;
      if (run.verdict != answer::Verdict::kYes) return false;
    }
    return true;
  }

  // Finds the lowest rate above the result that missed beyond doubt. The interval between them stays open
  // unless the two are about as close as the steps of the search.
  void bracket() {
    for (const auto& [rate, misses] : clear_misses_)
      if (!found_.missed_per_s && rate > *found_.per_s && misses >= kProbes) found_.missed_per_s = rate;
    const double end = found_.missed_per_s ? *found_.missed_per_s : limits_.saturation_per_s;
    if (*found_.per_s < end * kStepDown * (1 - kTolerance)) found_.stopped = reason_;
    if (!found_.missed_per_s) found_.missed_per_s = Number::missing(why_no_miss());
  }

  [[nodiscard]] std::string why_no_miss() const {
    double highest = 0;
    bool late = false;
    for (const auto& t : found_.trials)
      if (t.rate_per_s > *found_.per_s) highest = std::max(highest, t.rate_per_s), late |= t.issued_late;
    if (highest <= 0) return "no higher rate was tried";
    return fmt::format("no rate up to {}/s was seen to miss{}", format_rate(highest),
                       late ? ", where requests were issued late" : "");
  }

  const CapacityLimits& limits_;
  const RunTrial& run_;
  std::uint32_t ppm_;
  std::int64_t used_ = 0;
  std::string reason_;                  // which limit was too small last
  std::map<double, int> clear_misses_;  // by rate
  result::Capacity found_;
};

}  // namespace

double expected_seconds(const CapacityLimits& limits) {
  const RunTrial none;
  return Search(limits, none).expected_seconds();
}

std::string cost_in_words(const CapacityLimits& limits) {
  const double seconds = expected_seconds(limits);
  const std::string most = fmt::format("capacity search: at most {} requests", limits.max_requests);
  if (seconds <= 0) return most + fmt::format("; saturation is {}/s", format_rate(limits.saturation_per_s));
  return most + fmt::format(", about {} at a saturation of {}/s", format_time_left(seconds),
                            format_rate(limits.saturation_per_s));
}

result::Capacity search_capacity(const CapacityLimits& limits, const RunTrial& run) {
  return Search(limits, run).find();
}

}  // namespace paceline::pass
