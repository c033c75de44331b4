// SPDX-License-Identifier: MIT
#include "result/figures/pair_ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "result/figures/pairing.h"
#include "stats/interval.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

Number usual_mean_ns(const CaseResult& one) {
  std::vector<double> means;
  for (const auto& r : one.repetitions)
    if (r.mean_ns) means.push_back(*r.mean_ns);
  return means.empty() ? Number::missing("no repetition has a mean") : Number(stats::median(means));
}

// The case's rate, faster or slower as this repetition's mean time was; of a server what was measured itself.
Number rate_of(const CaseResult& one, const Repetition& r) {
  if (traits_of(one.benchmark.scenario).rate_is_offered)
    return r.load() ? r.load()->saturation_per_s : Number{};
  const auto& rate = one.throughput.per_s.value;
  if (!rate || !r.mean_ns) return rate ? r.mean_ns : rate;
  return *rate * *usual_mean_ns(one) / *r.mean_ns;
}

bool is_positive(const Number& value) {
  return value && std::isfinite(*value) && *value > 0;
}

// A repetition whose median is longer than what an inference computes: it contains a wait for a CPU. A load
// has other waits.
bool median_waited(const CaseResult& one, const Repetition& r) {
  constexpr double kLeastWait = 0.05, kLongerThanComputed = 1.05;
  const double lost = r.noise.runq_wait_frac.value().value_or(0) + r.noise.steal_frac.value().value_or(0);
  if (one.load() || lost < kLeastWait || !r.p50_ns || !r.mean_ns) return false;
  // Waits are counted when they end, which a short window under heavy load does not see of all.
  const double computed = std::max(1 - lost, r.noise.running_frac.value().value_or(0));
  return *r.p50_ns > kLongerThanComputed * *r.mean_ns * computed;
}

struct PairedValues {
  std::vector<double> numerator, denominator;
  void add(const Number& above, const Number& below) {
    if (!is_positive(above) || !is_positive(below)) return;
    numerator.push_back(*above);
    denominator.push_back(*below);
  }
  // Without an interval where there is nothing to compare.
  [[nodiscard]] stats::Comparison compared(const stats::CompareConfig& config) const {
    return numerator.empty() ? stats::Comparison{} : stats::compare_pairs(denominator, numerator, config);
  }
};

std::string too_few_pairs(const PairRatio& r, std::int64_t needed) {
  if (r.pairs >= needed) return {};
  if (r.apart > 0)
    return fmt::format(
        "{} of {} repetitions of the two cases did not run as neighbours in time, so they are no pairs; "
        "measure both cases again together",
        r.apart, r.pairs + r.apart);
  if (r.pairs == 0) return "no repetition ran in both cases";
  return needed == kPairsForClaim ? "fewer than six pairs of processes"
                                  : fmt::format("fewer than {} pairs of processes", needed);
}

// Without a size a direction remains, or nothing.
void state_missing_size(PairRatio& r) {
  r.no_size = r.found->no_size;
  if (!r.no_size.empty() && r.found->verdict == stats::Verdict::kInconclusive) r.reason = r.no_size;
}

bool times_blocks(const CaseResult& one) {
  return one.benchmark.timing_mode == stats::kPipelined;
}

}  // namespace

Number process_value(const CaseResult& one, const Repetition& repetition, Figure figure) {
  return figure == Figure::kLatency ? repetition.p50_ns : rate_of(one, repetition);
}

std::int64_t pairs_for_claim(double confidence) {
  return std::max(kPairsForClaim, stats::required_n(0.5, stats::tail(confidence)));
}

std::string distortion(const CaseResult& one) {
  const std::string& label = one.label.empty() ? one.case_id : one.label;
  if (!one.noise.instrument.empty())
    return fmt::format("{} was measured under {}", label, one.noise.instrument);
  if (one.load() && !one.load()->invalid.empty())
    return fmt::format("{}: {}", label, one.load()->invalid.front());
  return {};
}

PairRatio pair_ratio(const CaseResult& numerator, const CaseResult& denominator, Figure figure,
                     const std::vector<std::string>& resumed_utc, double confidence, double delta) {
  PairRatio result;
  if (figure == Figure::kLatency && times_blocks(numerator) != times_blocks(denominator)) {
    result.reason = "the time of an inference in a block is no latency";
    return result;
  }
  PairedValues values, means;
  bool waited = false;
  const Pairing pairing = pair_repetitions(numerator, denominator, resumed_utc);
  for (const auto& [mine, theirs] : pairing.neighbours) {
    values.add(process_value(numerator, *mine, figure), process_value(denominator, *theirs, figure));
    means.add(mine->mean_ns, theirs->mean_ns);
    waited = waited || median_waited(numerator, *mine) || median_waited(denominator, *theirs);
  }
  result.pairs = std::ssize(values.numerator);
  result.apart = pairing.apart;
  const stats::CompareConfig config{
      .delta = delta, .aa_halfwidth = {}, .confidence = confidence, .better = stats::Better::kLower};
  if (result.pairs > 0) result.found = values.compared(config);
  if (waited && figure == Figure::kLatency && result.found)
    result.found = stats::held_against(*result.found, means.compared(config), config);
  result.reason = too_few_pairs(result, pairs_for_claim(confidence));
  for (const auto* one : {&numerator, &denominator})
    if (result.reason.empty()) result.reason = distortion(*one);
  if (result.reason.empty()) state_missing_size(result);
  return result;
}

}  // namespace paceline::result
