// SPDX-License-Identifier: MIT
#include "stats/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "stats/process_level.h"
#include "stats/quantile.h"
#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::stats {
namespace {

constexpr std::string_view kVerdictNames[] = {"REGRESSION", "IMPROVEMENT", "EQUIVALENT", "INCONCLUSIVE"};

std::vector<double> log_ratios(std::span<const double> denominator, std::span<const double> numerator) {
  if (denominator.size() != numerator.size() || denominator.empty()) {
    throw Error(
        ErrorCode::kData,
        fmt::format(
            "{} baseline and {} candidate values do not make pairs; run both sides the same number of times",
            denominator.size(), numerator.size()));
  }
  std::vector<double> d(denominator.size());
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (!(denominator[i] > 0) || !(numerator[i] > 0)) {
      throw Error(ErrorCode::kData, fmt::format("pair {} is {} and {}; a ratio needs values above 0", i,
                                                denominator[i], numerator[i]));
    }
    d[i] = std::log(numerator[i]) - std::log(denominator[i]);
  }
  return d;
}

void require_positive(std::span<const double> values) {
  if (values.empty()) throw Error(ErrorCode::kData, "a side without a process cannot be compared");
  for (const double value : values)
    if (!(value > 0))
      throw Error(ErrorCode::kData, fmt::format("{} is no value above 0, as a ratio needs", value));
}

struct MedianLog {
  double estimate = 0;
  std::optional<Interval> ci;  // of the order statistics, cut where that is allowed
  std::optional<double> actual_coverage;
  std::string reason;
};

std::string too_few_pairs(std::int64_t needed) {
  return needed == 6 ? "fewer than six pairs" : fmt::format("fewer than {} pairs", needed);
}

// While the order statistics have to reach from the smallest to the largest value, one value next to 0 hides
// a difference that all others show. Student's t at a higher confidence cuts what is beyond it. Its share of
// the errors keeps the two together below 1 - confidence for symmetric differences of up to three sizes
// (Compare.EqualSidesAreRarelyToldApartWhateverTheShape); above 95 %, and where one mode of a side may be the
// exception or the rule, that is not so, and nothing is cut.
constexpr double kMostForACut = 0.95, kWidestForACut = 0.15;
Interval cut_by_t(const Interval& range, std::span<const double> d, double confidence) {
  constexpr double kShareOfErrors = 0.3;
  const auto n = static_cast<double>(d.size());
  const double centre = mean(d), level = 1 - kShareOfErrors * (1 - confidence);
  const double half = student_t(n - 1, level) * *stddev(d) / std::sqrt(n);
  return {std::max(range.low, centre - half), std::min(range.high, centre + half)};
}

MedianLog median_log(std::span<const double> d, double confidence) {
  const auto sorted = sorted_copy(d);
  const auto n = static_cast<std::int64_t>(d.size());
  MedianLog result{median_sorted(sorted), {}, {}, {}};
  const Ranks ranks = quantile_ranks(n, 0.5, tail(confidence));
  if (ranks.l == 0 || ranks.u == 0) {
    result.reason = too_few_pairs(required_n(0.5, tail(confidence)));
    return result;
  }
  result.ci =
      Interval{sorted[static_cast<std::size_t>(ranks.l - 1)], sorted[static_cast<std::size_t>(ranks.u - 1)]};
  if (ranks.l == 1 && ranks.u == n && confidence <= kMostForACut && *stddev(d) <= kWidestForACut)
    result.ci = cut_by_t(*result.ci, d, confidence);
  result.actual_coverage = rank_coverage(n, 0.5, ranks);
  return result;
}

std::optional<Interval> exp_interval(const std::optional<Interval>& logs) {
  if (!logs) return std::nullopt;
  return Interval{std::exp(logs->low), std::exp(logs->high)};
}

// Ties join the smaller side.
double sign_test(std::span<const double> d) {
  const auto n = static_cast<std::int64_t>(d.size());
  const auto above = std::count_if(d.begin(), d.end(), [](double v) { return v > 0; });
  const auto below = std::count_if(d.begin(), d.end(), [](double v) { return v < 0; });
  const auto smaller = n - std::max(above, below);
  return std::min(1.0, 2 * binomial_cdf(n, 0.5, smaller));
}

// How far log ratios may vary for a size. A load that meets one side more often than the other moves their
// median away from the ratio of the work, and six pairs may hide it. Processes that vary without their pairs
// varying less may be such ones that happen to look alike (HeavyLoad.* has the rates of error).
constexpr double kWidestDifferences = 0.3, kWidestProducts = 0.2, kTimesAsTight = 4;
bool restless(std::span<const double> a, std::span<const double> b, std::span<const double> d) {
  std::vector<double> products(a.size());
  std::transform(a.begin(), a.end(), b.begin(), products.begin(),
                 [](double x, double y) { return std::log(x) + std::log(y); });
  const double differing = *stddev(d), varying = *stddev(products);
  return differing > kWidestDifferences || (varying > kWidestProducts && varying < kTimesAsTight * differing);
}

void take_size(Comparison& c, std::string why) {
  c.no_size = std::move(why);
  c.ci_ratio.reset();
  // Where there are pairs for it, a direction alone may be wrong a fifth as often.
  const double errors = (1 - c.confidence) / 5;
  const bool doubtful = c.p_sign > errors && c.pairs >= required_n(0.5, errors / 2);
  if (doubtful || c.verdict == Verdict::kEquivalent) c.verdict = Verdict::kInconclusive;
}

bool opposite(Verdict a, Verdict b) {
  const auto claims = [](Verdict v) { return v == Verdict::kRegression || v == Verdict::kImprovement; };
  return a != b && claims(a) && claims(b);
}

double used_delta(const CompareConfig& config) {
  return std::max(config.delta, 2 * config.aa_halfwidth.value_or(0));
}

Verdict judge(const MedianLog& d, double delta, Better better) {
  if (!d.ci) return Verdict::kInconclusive;
  if (better == Better::kLower) return verdict(*d.ci, d.estimate, delta);
  return verdict({-d.ci->high, -d.ci->low}, -d.estimate, delta);
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  return kVerdictNames[static_cast<std::size_t>(verdict)];
}

Verdict verdict(Interval d, double estimate, double delta) {
  const double threshold = std::log1p(delta);
  if (d.low > 0 && estimate >= threshold) return Verdict::kRegression;
  if (d.high < 0 && estimate <= -threshold) return Verdict::kImprovement;
  return d.low > -threshold && d.high < threshold ? Verdict::kEquivalent : Verdict::kInconclusive;
}

Comparison compare_pairs(std::span<const double> baseline, std::span<const double> candidate,
                         const CompareConfig& config) {
  const auto d = log_ratios(baseline, candidate);
  const auto centre = median_log(d, config.confidence);
  Comparison result;
  result.pairs = static_cast<std::int64_t>(d.size());
  result.estimate_ratio = std::exp(centre.estimate);
  result.ci_ratio = exp_interval(centre.ci);
  result.actual_coverage = centre.actual_coverage;
  result.confidence = config.confidence;
  result.delta = used_delta(config);
  result.p_sign = sign_test(d);
  result.verdict = judge(centre, result.delta, config.better);
  result.reason = centre.reason;
  if (result.ci_ratio && !config.any_spread && restless(baseline, candidate, d))
    take_size(result, "the times of the processes differ too much");
  return result;
}

ApartComparison compare_apart(std::span<const double> baseline, std::span<const double> candidate,
                              const CompareConfig& config) {
  const auto logs = [](const ProcessEstimate& side) {
    return Interval{std::log(side.ci->low), std::log(side.ci->high)};
  };
  require_positive(baseline), require_positive(candidate);
  const auto from = over_processes(baseline, config.confidence),
             to = over_processes(candidate, config.confidence);
  ApartComparison result;
  result.pairs = std::min(from.processes, to.processes);
  result.confidence = config.confidence;
  result.delta = used_delta(config);
  result.estimate_ratio = to.value / from.value;
  if (!from.ci || !to.ci) {
    result.reason =
        fmt::format("one process of {} has no spread", from.ci ? "the candidate" : "the baseline");
    return result;
  }
  const double b = std::log(from.value), c = std::log(to.value);
  const auto of_b = logs(from), of_c = logs(to);
  MedianLog difference;
  difference.estimate = c - b;
  difference.ci = Interval{c - b - std::hypot(c - of_c.low, of_b.high - b),
                           c - b + std::hypot(of_c.high - c, b - of_b.low)};
  result.ci_ratio = exp_interval(difference.ci);
  result.apart_verdict = judge(difference, result.delta, config.better);
  return result;
}

Comparison held_against(Comparison medians, const Comparison& means, const CompareConfig& config) {
  if (!medians.ci_ratio) return medians;
  auto &mine = *medians.ci_ratio, theirs = means.ci_ratio.value_or(Interval{HUGE_VAL, HUGE_VAL});
  if (mine.high < theirs.low || theirs.high < mine.low) {
    take_size(medians, "the processes waited for CPUs, so medians and means differ");
    if (opposite(medians.verdict, means.verdict)) medians.verdict = Verdict::kInconclusive;
    return medians;
  }
  mine = {std::min(mine.low, theirs.low), std::max(mine.high, theirs.high)};
  MedianLog both;
  both.estimate = std::log(medians.estimate_ratio);
  both.ci = Interval{std::log(mine.low), std::log(mine.high)};
  medians.verdict = judge(both, medians.delta, config.better);
  return medians;
}

}  // namespace paceline::stats
