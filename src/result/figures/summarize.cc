// SPDX-License-Identifier: MIT
#include "result/figures/summarize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/units.h"
#include "result/figures/device_figures.h"
#include "result/figures/pair_ratio.h"
#include "result/figures/summarize_load.h"
#include "result/stored/benchmark_params.h"
#include "stats/autocorrelation.h"
#include "stats/batch_means.h"
#include "stats/noise.h"
#include "stats/order_statistics.h"
#include "stats/outliers.h"
#include "stats/process_level.h"
#include "stats/quantile.h"
#include "stats/spread.h"

namespace paceline::result {
namespace {

constexpr std::uint32_t kQuantilesPpm[] = {stats::kPpmP50, stats::kPpmP90, stats::kPpmP95, stats::kPpmP99};

Number number(const std::optional<double>& value, const std::string& reason) {
  return {value, reason};
}

void set_interval(Estimate& e, const std::optional<stats::Interval>& ci, const std::string& reason) {
  e.ci_low = number(ci ? std::optional(ci->low) : std::nullopt, reason);
  e.ci_high = number(ci ? std::optional(ci->high) : std::nullopt, reason);
}

Quantile to_quantile(const stats::QuantileEstimate& q) {
  return {stats::ppm_to_p(q.ppm),
          number(q.value, q.reason),
          number(q.ci_low, q.reason),
          number(q.ci_high, q.reason),
          q.confidence,
          q.ci_method,
          number(q.actual_coverage, q.reason),
          Number(q.n_eff)};
}

// `x` may hold infinite latencies; `finite` holds its other values and is never empty.
// `means` says why the times are means of several iterations; empty: they are not.
void fill_stats(Stats& s, const std::vector<double>& x, const std::vector<double>& finite,
                const std::string& means, double confidence) {
  s.n = static_cast<std::int64_t>(x.size());
  s.quantile_method = stats::kQuantileMethod;
  const auto sorted = stats::sorted_copy(x);
  s.quantiles.clear();
  for (const auto ppm : kQuantilesPpm)
    s.quantiles.push_back(to_quantile(!means.empty() && ppm != stats::kPpmP50
                                          ? stats::missing_quantile(ppm, confidence, means)
                                          : stats::estimate_quantile(x, sorted, ppm, confidence)));
  s.tau_x = stats::tau_geyer(finite);
  s.median_ns = stats::median_sorted(sorted);
  s.mean_ns = stats::mean(x);
  s.stddev_ns = number(stats::stddev(x), stats::kInsufficientSamples);
  s.mad_ns = s.median_ns ? Number(stats::mad(x)) : s.median_ns;
  s.min_ns = !means.empty() ? Number::missing(means) : Number(sorted.front());
  s.max_ns = !means.empty() ? Number::missing(means) : Number(sorted.back());
  // The tail's own effective size is at least n / tau of the raw series; the spec prints the median's.
  s.highest_claimable_p =
      stats::highest_claimable_p(static_cast<double>(x.size()) / *s.tau_x, stats::tail(confidence));
}

// The samples of each process, in the order in which the processes ran.
std::vector<std::vector<Sample>> by_repetition(const std::vector<Sample>& samples) {
  std::map<int, std::vector<Sample>> groups;
  for (const auto& s : samples) groups[s.repetition].push_back(s);
  std::vector<std::vector<Sample>> out;
  for (auto& [repetition, x] : groups) out.push_back(std::move(x));
  return out;
}

// One series per process; a process without one is left out.
template <typename Series>
std::vector<std::vector<double>> series_of(const std::vector<std::vector<Sample>>& processes, Series series) {
  std::vector<std::vector<double>> out;
  for (const auto& process : processes)
    if (auto x = series(process); !x.empty()) out.push_back(std::move(x));
  return out;
}

// With six or more processes the interval is over their medians, otherwise inside the samples.
void fill_headline(Headline& h, const Stats& s, const std::vector<std::vector<double>>& latencies,
                   const std::vector<std::vector<double>>& durations, double confidence) {
  const auto spread = stats::process_spread(durations);
  h.within_spread = number(spread.within_frac, stats::kInsufficientSamples);
  h.between_spread = number(spread.between_frac, "fewer than two processes");
  h.p50_ns.confidence = confidence;
  if (latencies.size() >= 6) {
    const auto medians = stats::process_medians(latencies);
    const auto e = stats::over_processes(medians, confidence);
    h.scope = kBetweenProcess;
    h.p50_ns.value = e.value;
    h.p50_ns.ci_method = e.ci_method;
    set_interval(h.p50_ns, e.ci, e.reason);
    return;
  }
  const Quantile& p50 = s.quantiles.front();
  h.scope = kWithinProcess;
  h.p50_ns = {p50.value_ns, p50.ci_low_ns, p50.ci_high_ns, confidence, p50.ci_method};
  // The median of a sample exists at any length; a short sample only cannot carry an interval.
  if (!h.p50_ns.value) h.p50_ns.value = s.median_ns;
}

std::vector<double> device_durations_ns(const std::vector<Sample>& samples) {
  std::vector<double> out;
  for (const auto& s : samples)
    if (s.counts() && s.device_ns) out.push_back(static_cast<double>(*s.device_ns));
  return out;
}

// Like the headline, from the device's clock; `processes` holds the times of each process.
Estimate device_median(const std::vector<Sample>& samples, const std::vector<std::vector<double>>& processes,
                       double confidence) {
  const auto all = device_durations_ns(samples);
  const auto none = Number::missing("the engine has no device clock");
  if (all.empty()) return {none, none, none, confidence, ""};
  Stats stats;
  fill_stats(stats, all, all, {}, confidence);
  Headline headline;
  fill_headline(headline, stats, processes, processes, confidence);
  return headline.p50_ns;
}

// In a block, starting is that of its first inference, and the others are of its last one.
std::vector<DevicePart> device_parts(const std::vector<Sample>& samples, double confidence) {
  std::vector<DevicePart> parts;
  for (const auto& [name, field] : {std::pair{kEnqueue, &Sample::enqueue_ns},
                                    {kH2d, &Sample::input_ns},
                                    {kDeviceCompute, &Sample::compute_ns},
                                    {kD2h, &Sample::output_ns}}) {
    std::vector<double> x;
    for (const auto& s : samples)
      if (s.counts() && s.*field) x.push_back(static_cast<double>(*(s.*field)));
    if (x.empty()) continue;
    const auto sorted = stats::sorted_copy(x);
    const auto p99 = stats::estimate_quantile(x, sorted, stats::kPpmP99, confidence);
    parts.push_back({name, static_cast<std::int64_t>(x.size()), sorted.front(), stats::mean(x),
                     stats::median_sorted(sorted), number(p99.value, p99.reason)});
  }
  return parts;
}

// `processes` holds the times from one completion to the next.
void fill_throughput(Throughput& t, const std::vector<std::vector<double>>& processes,
                     const SummaryOptions& options) {
  t.item = options.item;
  t.per_s.confidence = options.confidence;
  if (processes.size() >= 6) {
    std::vector<double> per_item;
    for (const auto& x : processes) per_item.push_back(stats::mean(x) / options.items_per_iteration);
    const auto e = stats::over_processes(per_item, options.confidence);
    t.per_s.value = 1e9 / e.value;
    t.per_s.ci_method = e.ci_method;
    const auto inverse =
        e.ci ? std::optional(stats::Interval{1e9 / e.ci->high, 1e9 / e.ci->low}) : std::nullopt;
    set_interval(t.per_s, inverse, e.reason);
    return;
  }
  std::vector<double> all;
  for (const auto& x : processes) all.insert(all.end(), x.begin(), x.end());
  if (all.empty()) {
    t.per_s.value = t.per_s.ci_low = t.per_s.ci_high = Number::missing(stats::kInsufficientSamples);
    return;
  }
  const auto e = stats::throughput_interval(all, options.items_per_iteration, options.confidence);
  t.per_s.value = e.per_s;
  t.per_s.ci_method = "batch_means";
  set_interval(t.per_s, e.ci, e.reason);
}

template <typename Get>
Number median_of(const std::vector<Repetition>& repetitions, Get get) {
  std::vector<double> values;
  for (const auto& r : repetitions)
    if (const Number& v = get(r)) values.push_back(*v);
  return values.empty() ? Number::missing("not_measured") : Number(stats::median(values));
}

// Where both are missing, the later stays for its reason.
template <typename T, typename Struct>
void keep_largest(Maybe<T> Struct::*field, Struct& into, const Struct& from) {
  if (!(into.*field) || (from.*field && *(from.*field) > *(into.*field))) into.*field = from.*field;
}

Memory worst_memory(const std::vector<Repetition>& repetitions) {
  Memory m;
  for (const auto& r : repetitions)
    for (auto field :
         {&Memory::rss_before_load_bytes, &Memory::shared_before_load_bytes, &Memory::rss_peak_bytes,
          &Memory::rss_peak_above_load_bytes, &Memory::tensor_peak_bytes, &Memory::reserved_peak_bytes})
      keep_largest(field, m, r.memory);
  return m;
}

Overhead worst_overhead(const std::vector<Repetition>& repetitions) {
  Overhead o;
  for (const auto& r : repetitions)
    for (auto field : {&Overhead::timer_resolution_ns, &Overhead::timer_cost_ns, &Overhead::timer_cost_p99_ns,
                       &Overhead::harness_cost_ns, &Overhead::overhead_fraction, &Overhead::os_noise_frac,
                       &Overhead::calibration_drift})
      keep_largest(field, o, r.overhead);
  return o;
}

Noise worst_noise(const std::vector<Repetition>& repetitions) {
  Noise n;
  for (const auto& r : repetitions) {
    for (auto field : {&Noise::runq_wait_frac, &Noise::nivcsw_per_s, &Noise::steal_frac, &Noise::psi_cpu_some,
                       &Noise::foreign_cpu_frac, &Noise::freq_cv})
      keep_largest(field, n, r.noise);
    keep_largest(&Noise::cgroup_throttled, n, r.noise);
    if (!r.noise.instrument.empty()) n.instrument = r.noise.instrument;
  }
  return n;
}

// `processes` are in the order in which they ran.
void fill_process_noise(Noise& n, const std::vector<std::vector<double>>& processes) {
  std::vector<double> medians;
  for (const auto& x : processes) medians.push_back(stats::median(x));
  const auto z = stats::succession_z(medians);
  n.processes_z = z ? Number(*z) : Number::missing(stats::kInsufficientSamples);
}

// A drift that is certain before one that is not; of those the larger one, of these the one nearer to
// certain.
bool is_worse(const stats::Drift& a, const stats::Drift& b) {
  const auto certain = [](const stats::Drift& d) { return std::abs(d.z) > stats::kDriftZ; };
  if (certain(a) != certain(b)) return certain(a);
  return certain(a) ? std::abs(a.total_frac) > std::abs(b.total_frac) : std::abs(a.z) > std::abs(b.z);
}

std::optional<stats::Drift> worst_drift(const std::vector<std::vector<double>>& processes) {
  std::optional<stats::Drift> worst;
  for (const auto& x : processes) {
    const auto d = stats::drift(x);
    if (d && (!worst || is_worse(*d, *worst))) worst = d;
  }
  return worst;
}

void set_drift(Number& frac, Number& z, const std::optional<stats::Drift>& worst) {
  frac = z = Number::missing(stats::kInsufficientSamples);
  if (worst) frac = worst->total_frac, z = worst->z;
}

// Drift and modes are judged inside processes: medians of processes differ for other reasons.
void fill_series_noise(Noise& n, const std::vector<std::vector<double>>& processes,
                       const std::vector<double>& all, double resolution) {
  set_drift(n.drift_frac, n.drift_z, worst_drift(processes));
  n.tau_x = Number::missing(stats::kInsufficientSamples);
  for (const auto& x : processes) {
    const double tau = stats::tau_geyer(x);
    if (!n.tau_x || tau > *n.tau_x) n.tau_x = tau;
  }
  if (const auto m = stats::multimodality(all, resolution); m && m->flagged) {
    n.multimodal = true;
    for (const auto& mode : m->modes) n.modes.push_back({mode.median, mode.share});
  }
}

void fill_outliers(Outliers& o, const std::vector<double>& x, double resolution) {
  const auto found = stats::classify_outliers(x, resolution);
  o.mild = static_cast<std::int64_t>(found.mild.size());
  o.severe = static_cast<std::int64_t>(found.severe.size());
  o.severe_time_share = found.severe_time_share;
  o.median_excl_severe_ns = number(found.median_excl_severe, stats::kInsufficientSamples);
}

Number share_of_peak(const Flops& f) {
  if (!f.peak_measured_flops_per_s) return Number::missing(f.peak_measured_flops_per_s.reason());
  const double share = *f.achieved_flops_per_s / *f.peak_measured_flops_per_s;
  if (!above_measured_peak(f)) return share;
  return Number::missing(
      fmt::format("{} % of the measured peak: the model needs fewer operations than are counted, or the "
                  "outputs were not compared, without which a case does not raise the peak",
                  format_fixed(share * 100, 1)));
}

Number share_of_datasheet(const Flops& f) {
  const auto& peak = f.peak_datasheet_flops_per_s;
  return peak ? Number(*f.achieved_flops_per_s / *peak) : peak;
}

void fill_flops(Flops& f, const Number& items_per_s) {
  if (!f.model_flops_per_item || !items_per_s) {
    f.achieved_flops_per_s =
        Number::missing(f.model_flops_per_item ? items_per_s.reason() : "model FLOPs unknown");
    f.share_of_measured_peak = f.share_of_datasheet_peak = f.achieved_flops_per_s;
    return;
  }
  f.achieved_flops_per_s = *f.model_flops_per_item * *items_per_s;
  f.share_of_measured_peak = share_of_peak(f);
  f.share_of_datasheet_peak = share_of_datasheet(f);
}

// A block's time over its inferences is no latency, so the case has none.
void move_to_back_to_back(CaseResult& result) {
  auto& p50 = result.headline.p50_ns;
  result.back_to_back_ns = p50;
  p50.value = p50.ci_low = p50.ci_high = Number::missing(stats::kPipelined);
}

// Items per second of one iteration after the other, at the median latency.
Number items_at_median(const Number& p50_ns, double items_per_iteration) {
  return p50_ns ? Number(items_per_iteration * 1e9 / *p50_ns) : p50_ns;
}

// All requests were lost, so there is nothing else to summarise.
void fill_nothing(CaseResult& result) {
  const auto none = Number::missing("no request was completed");
  result.headline.p50_ns.value = result.headline.p50_ns.ci_low = result.headline.p50_ns.ci_high = none;
  result.throughput.per_s.value = result.throughput.per_s.ci_low = result.throughput.per_s.ci_high = none;
  result.stats.median_ns = result.stats.mean_ns = result.stats.min_ns = result.stats.max_ns = none;
}

// Back-to-back inferences would have this rate, which nobody gets from a process that sleeps.
void remove_throughput(CaseResult& result) {
  auto& rate = result.throughput.per_s;
  rate.value = rate.ci_low = rate.ci_high = Number::missing("it sleeps between inferences");
  rate.ci_method.clear();
}

void summarize_samples(CaseResult& result, const std::vector<Sample>& samples,
                       const SummaryOptions& options) {
  const auto finite = durations_ns(samples);
  if (finite.empty()) return fill_nothing(result);
  const Scenario scenario = result.benchmark.scenario;
  const auto processes = by_repetition(samples);
  const auto durations = series_of(processes, [](const auto& x) { return durations_ns(x); });
  const auto latencies = series_of(processes, [](const auto& x) { return latencies_ns(x); });
  const auto periods = result.load()
                           ? series_of(processes,
                                       [&](const auto& x) {
                                         return completion_periods(scenario, result.load()->concurrency, x);
                                       })
                           : durations;
  const std::string means = means_of(samples);
  result.benchmark.timing_mode = means.empty() ? "sync_latency" : means;
  fill_stats(result.stats, latencies_ns(samples), finite, means, options.confidence);
  fill_headline(result.headline, result.stats, latencies, durations, options.confidence);
  const auto device_times = series_of(processes, device_durations_ns);
  result.device_p50_ns = device_median(samples, device_times, options.confidence);
  if (!result.load() && traits_of(result.benchmark.kind).runs_engine)
    result.device_parts = device_parts(samples, options.confidence);
  fill_throughput(result.throughput, periods, options);
  if (gap_s(result.benchmark) > 0) remove_throughput(result);
  fill_process_noise(result.noise, durations);
  fill_series_noise(result.noise, durations, finite, options.timer_resolution_ns);
  set_drift(result.noise.device_drift_frac, result.noise.device_drift_z, worst_drift(device_times));
  fill_outliers(result.outliers, finite, options.timer_resolution_ns);
  if (means == stats::kPipelined) move_to_back_to_back(result);
  fill_flops(result.flops, result.load() || means == stats::kPipelined
                               ? result.throughput.per_s.value
                               : items_at_median(result.headline.p50_ns.value, options.items_per_iteration));
}

}  // namespace

std::string means_of(const std::vector<Sample>& samples) {
  for (const auto& [flag, reason] :
       {std::pair{kSamplePipelined, stats::kPipelined}, {kSampleBatched, stats::kBatched}})
    if (std::any_of(samples.begin(), samples.end(),
                    [bit = flag](const Sample& s) { return (s.flags & bit) != 0; }))
      return reason;
  return {};
}

std::string no_claim_reason(const CaseResult& one) {
  const SpeedUp& s = one.speedup;
  if (one.outcome != Outcome::kOk || s.baseline_case_id.empty() || s.baseline_case_id == one.case_id)
    return {};
  if (!s.reason.empty()) return s.reason;
  if (!s.no_size.empty()) return {};
  if (!s.ratio.value || !s.ratio.ci_low || !s.ratio.ci_high) return "the ratio has no interval";
  return s.verdict == Speed::kNoClaim ? "the result does not say how it was judged" : "";
}

void mark_not_measured(CaseResult& result) {
  result.outcome = Outcome::kSkipped;
  result.reason_code = kNotMeasured;
  result.reason = "the run ended before the first repetition of this case was finished";
  result.complete = false;
  result.grade = Grade::kNone;
  result.grade_reasons.clear();
}

bool is_cut_short(const CaseResult& one) {
  return one.outcome == Outcome::kOk && !one.complete && one.ended_because == EndedBecause::kInterrupted;
}

bool above_measured_peak(const Flops& f) {
  return f.achieved_flops_per_s && f.peak_measured_flops_per_s &&
         *f.achieved_flops_per_s > *f.peak_measured_flops_per_s;
}

void summarize_repetition(Repetition& repetition, const std::vector<double>& x) {
  repetition.n = static_cast<std::int64_t>(x.size());
  if (x.empty()) return;
  repetition.p50_ns = stats::median(x);
  repetition.mean_ns = stats::mean(x);
}

void summarize(CaseResult& result, const std::vector<Sample>& samples, const SummaryOptions& options) {
  result.memory = worst_memory(result.repetitions);
  result.overhead = worst_overhead(result.repetitions);
  result.noise = worst_noise(result.repetitions);
  result.first_iteration_ns = median_of(
      result.repetitions, [](const Repetition& r) -> const Number& { return r.first_iteration_ns; });
  result.load_ns =
      median_of(result.repetitions, [](const Repetition& r) -> const Number& { return r.load_ns; });
  result.payload.set(combined_load(result.repetitions, samples));
  if (samples.empty()) return;
  summarize_samples(result, samples, options);
  apply_length_rule(result);
}

static void set_verdict(SpeedUp& s, const stats::Comparison& found) {
  s.scope = kBetweenProcess;
  s.p_sign = found.p_sign;
  if (!s.reason.empty()) return;
  // As stats::Verdict: where the baseline takes more time, the case is faster.
  constexpr std::array kSpeed{Speed::kFaster, Speed::kSlower, Speed::kEquivalent, Speed::kInconclusive};
  s.verdict = kSpeed.at(static_cast<std::size_t>(found.verdict));
}

void compare_to_baseline(CaseResult& result, const CaseResult& baseline, double confidence, double delta,
                         const std::vector<std::string>& resumed_utc) {
  SpeedUp& s = result.speedup;
  s = {};
  s.baseline_case_id = baseline.case_id;
  const PairRatio r = pair_ratio(baseline, result, Figure::kLatency, resumed_utc, confidence, delta);
  s.pairs = r.pairs;
  s.pairs_apart = r.apart;
  s.reason = r.reason;
  s.no_size = r.no_size;
  s.ratio.confidence = confidence;
  if (!r.no_size.empty()) {
    s.ratio.value = Number::missing(r.no_size);
    set_interval(s.ratio, {}, r.no_size);
    set_verdict(s, *r.found);
    return;
  }
  if (!r.found) {
    s.ratio.value = Number::missing(s.reason);
    return;
  }
  s.ratio = {Number(r.found->estimate_ratio), {}, {}, confidence, "binomial_processes"};
  set_interval(s.ratio, r.found->ci_ratio, s.reason);
  if (!r.found->ci_ratio) return;
  set_verdict(s, *r.found);
}

}  // namespace paceline::result
