// SPDX-License-Identifier: MIT
#include "result/figures/summarize_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/display_text.h"
#include "base/units.h"
#include "stats/quantile.h"
#include "stats/queueing.h"
#include "stats/spread.h"

namespace paceline::result {
namespace {

using answer::Verdict;

constexpr double kCompletedFrac = 0.99;
constexpr double kBacklogSlopeFrac = 0.01;
constexpr double kInFlightError = 0.02;
constexpr double kIssueDelayFloorNs = 50'000, kIssueDelaySloShare = 0.01;
constexpr const char* kGeneratorLimited = "generator_limited";
constexpr const char* kNeverCompleted = "it falls among requests that were never completed";
constexpr const char* kNoBatching = "one request at a time: no max_batch in this case";
constexpr const char* kNoServer = "no schedule of arrivals in this scenario";

std::vector<const Sample*> counted(const std::vector<Sample>& samples) {
  std::vector<const Sample*> out;
  for (const auto& s : samples)
    if (s.counts()) out.push_back(&s);
  return out;
}

double end_of(const Sample& s) {
  return s.lost() ? stats::kNever : static_cast<double>(s.start_ns + s.host_ns);
}

struct Times {
  std::vector<double> starts, ends;
};
Times times_of(const std::vector<const Sample*>& samples) {
  Times t;
  for (const auto* s : samples) {
    t.starts.push_back(static_cast<double>(s->start_ns));
    t.ends.push_back(end_of(*s));
  }
  return t;
}

void count_requests(Load& load, const std::vector<Sample>& samples) {
  load.offered = load.completed = load.timed_out = load.unfinished = load.failed = load.warmup_requests = 0;
  for (const auto& s : samples) {
    load.warmup_requests += !s.counts();
    if (!s.counts()) continue;
    ++load.offered;
    load.completed += !s.lost();
    load.timed_out += (s.flags & kSampleTimedOut) != 0;
    load.unfinished += (s.flags & kSampleUnfinished) != 0;
    load.failed += (s.flags & kSampleFailed) != 0;
  }
  load.requests = load.offered;
  if (load.offered > 0)
    load.completed_frac = static_cast<double>(load.completed) / static_cast<double>(load.offered);
}

void fill_issue_delay(Load& load, const std::vector<const Sample*>& samples) {
  std::vector<double> delays;
  for (const auto* s : samples)
    if (s->issue_delay_ns) delays.push_back(static_cast<double>(*s->issue_delay_ns));
  load.issue_delay_limit_ns =
      std::max(kIssueDelayFloorNs, load.slo ? kIssueDelaySloShare * load.slo->bound_ns : 0);
  const auto sorted = stats::sorted_copy(delays);
  const auto rank = [&](std::uint32_t ppm) {
    return sorted.empty() ? Number::missing("no request found a free lane")
                          : Number(stats::nearest_rank(sorted, ppm));
  };
  load.issue_delay_p50_ns = rank(stats::kPpmP50);
  load.issue_delay_p99_ns = rank(stats::kPpmP99);
  load.issue_delay_max_ns = rank(stats::kPpmOne);
}

// How fast the number of requests that wait or are served grows, as a share of the arrival rate. One that
// timed out, or whose instance died, waits no longer.
double backlog_slope_frac(std::vector<const Sample*> samples, double rate) {
  std::erase_if(samples, [](const Sample* s) { return (s->flags & (kSampleTimedOut | kSampleFailed)) != 0; });
  const Times t = times_of(samples);
  return stats::backlog_slope(t.starts, t.ends) / rate;
}

void fill_rates(Load& load, const std::vector<const Sample*>& samples, const Times& t) {
  if (load.offered_per_s && load.saturation_per_s)
    load.utilization = *load.offered_per_s / *load.saturation_per_s;
  const auto needed =
      load.utilization ? stats::required_requests(stats::kPpmP99, *load.utilization) : std::nullopt;
  load.requests_needed = {needed,
                          load.utilization ? "no length suffices at saturation" : "saturation not known"};
  if (t.starts.size() < 2 || t.starts.back() <= t.starts.front()) return;
  const double length = t.starts.back() - t.starts.front();
  const double rate = static_cast<double>(t.starts.size() - 1) / length;
  load.backlog_slope_frac = backlog_slope_frac(samples, rate);
  double last = t.starts.back();
  for (const double end : t.ends)
    if (std::isfinite(end)) last = std::max(last, end);
  load.completed_per_s = static_cast<double>(load.completed) * 1e9 / (last - t.starts.front());
}

struct StageRow {
  const char* name;
  std::optional<std::int64_t> Sample::*field;
};
constexpr std::array<StageRow, 4> kStages{{{"queue", &Sample::queue_ns},
                                           {"input", &Sample::input_ns},
                                           {"compute", &Sample::compute_ns},
                                           {"output", &Sample::output_ns}}};

Stage stage_of(const StageRow& row, const std::vector<double>& x) {
  const auto sorted = stats::sorted_copy(x);
  return {row.name, stats::mean(x), stats::quantile(sorted, stats::kPpmP50),
          stats::quantile(sorted, stats::kPpmP99)};
}

std::vector<Stage> stages_of(const std::vector<Sample>& samples) {
  std::vector<Stage> stages;
  for (const auto& row : kStages) {
    std::vector<double> x;
    for (const auto& s : samples)
      if (s.counts() && !s.lost() && s.*row.field) x.push_back(static_cast<double>(*(s.*row.field)));
    if (!x.empty()) stages.push_back(stage_of(row, x));
  }
  return stages;
}

// Every request counts as its share of the inference that served it.
void fill_batches(Load& load, const std::vector<Sample>& samples) {
  std::map<std::int64_t, std::int64_t> requests;
  for (const auto& s : samples)
    if (s.counts() && !s.lost() && s.batch) ++requests[*s.batch];
  load.batch_sizes.clear();
  double served = 0, inferences = 0;
  for (const auto& [size, count] : requests) {
    load.batch_sizes.push_back({size, count});
    served += static_cast<double>(count);
    inferences += static_cast<double>(count) / static_cast<double>(size);
  }
  if (load.max_batch <= 1)
    load.mean_batch = Number::missing(kNoBatching);
  else
    load.mean_batch =
        inferences > 0 ? Number(served / inferences) : Number::missing("no request was completed");
}

void judge_closed_loop(Load& load, const Times& t) {
  const auto window = stats::steady_window(t.starts, t.ends, load.concurrency);
  if (!window || window->high <= window->low) {
    load.in_flight = Number::missing("not every lane was in use at once");
    return;
  }
  load.in_flight = stats::mean_in_flight(t.starts, t.ends, *window);
  const double asked = static_cast<double>(load.concurrency);
  if (std::abs(*load.in_flight - asked) > kInFlightError * asked)
    load.invalid.push_back(fmt::format("accounting: {} requests were in flight on average, {} were asked for",
                                       format_fixed(*load.in_flight, 2), load.concurrency));
}

void judge_server(Load& load) {
  if (load.completed_frac && *load.completed_frac < kCompletedFrac)
    load.invalid.push_back(
        fmt::format("{} of {} requests were completed (limit 99 %): {} timed out, {} unfinished, {} failed",
                    load.completed, load.offered, load.timed_out, load.unfinished, load.failed));
  if (load.backlog_slope_frac && *load.backlog_slope_frac > kBacklogSlopeFrac)
    load.invalid.push_back(fmt::format(
        "the backlog grew by {} of the arrival rate (limit 1 %): too high a load or too short a run",
        format_percent(*load.backlog_slope_frac)));
  if (issued_late(load))
    load.invalid.push_back(fmt::format("{}: p99 of the issue delay is {} (limit {})", kGeneratorLimited,
                                       format_duration_ns(*load.issue_delay_p99_ns),
                                       format_duration_ns(*load.issue_delay_limit_ns)));
}

// Every request must count once: claimed by an instance, or left over when no instance was alive.
void judge_instances(Load& load, const std::vector<Sample>& samples) {
  if (load.instances.empty()) return;
  std::int64_t claimed = 0, ended = 0;
  for (const auto& one : load.instances) {
    claimed += one.claimed;
    ended += one.completed + one.timed_out + one.unfinished + one.failed;
    if (!one.died.empty())
      load.invalid.push_back(
          fmt::format("instance {} of {} died ({}): {} of the {} requests it had claimed failed",
                      one.index + 1, load.instances.size(), one.died, one.failed, one.claimed));
  }
  const auto alive = std::any_of(load.instances.begin(), load.instances.end(),
                                 [](const auto& one) { return one.died.empty(); });
  const auto n = static_cast<std::int64_t>(samples.size());
  if (claimed != ended || claimed > n || (alive && claimed != n))
    load.invalid.push_back(fmt::format("accounting: {} requests, {} claimed, {} ended", n, claimed, ended));
}

// A claim needs a valid run of the required length; for an overloaded server a miss needs neither.
void judge_slo(Load& load, SloResult& slo, const std::vector<double>& latencies) {
  slo.offered_per_s = load.offered_per_s;
  if (latencies.empty()) return;
  const auto n = static_cast<std::int64_t>(latencies.size());
  const auto ppm = static_cast<std::uint32_t>(std::llround(slo.p * 1e6));
  slo.over = std::count_if(latencies.begin(), latencies.end(), [&](double x) { return x > slo.bound_ns; });
  const double n_eff = stats::estimate_quantile(latencies, ppm, 0.95).n_eff;
  const auto test = stats::slo_test(n, slo.over, n_eff, slo.p, slo.confidence);
  slo.n_eff = test.n_eff;
  slo.over_eff = test.over_eff;
  slo.verdict = test.verdict;
  const std::string counts = fmt::format("{} of {} requests over {}, worth {} independent ones", slo.over, n,
                                         format_duration_ns(slo.bound_ns), slo.n_eff);
  const auto needed = load.utilization ? stats::required_requests(ppm, *load.utilization) : std::nullopt;
  const std::int64_t more =
      std::max(test.verdict == Verdict::kCannotSay ? test.more_requests : 0, needed.value_or(n) - n);
  slo.detail = counts;
  const bool only_late = load.invalid.size() == 1 && issued_late(load);
  if (test.verdict == Verdict::kNo && !only_late && (more <= 0 || !needed)) return;
  const bool valid = load.invalid.empty() || (only_late && test.verdict == Verdict::kYes);
  if (!valid || !needed || more > 0) slo.verdict = Verdict::kCannotSay;
  if (more > 0) slo.detail += fmt::format("; needs about {} more requests", more);
  if (!load.invalid.empty()) slo.detail += "; " + load.invalid.front();
}

// Every process found its own limits: a rate must hold in all, and the upper end is the highest of them.
void add_capacity(Capacity& into, const Capacity& from) {
  if (!into.per_s) return;
  if (into.stopped.empty()) into.stopped = from.stopped;
  if (!from.per_s || *from.per_s < *into.per_s) into.per_s = from.per_s;
  if (!from.missed_per_s || (into.missed_per_s && *from.missed_per_s > *into.missed_per_s))
    into.missed_per_s = from.missed_per_s;
}

void keep_worst(Number& into, const Number& from, bool largest = true) {
  if (from && (!into || (largest ? *from > *into : *from < *into))) into = from;
}

void add_instance(InstanceLoad& into, const InstanceLoad& from) {
  into.claimed += from.claimed;
  into.completed += from.completed;
  into.timed_out += from.timed_out;
  into.unfinished += from.unfinished;
  into.failed += from.failed;
  if (into.died.empty()) into.died = from.died;
}

void add_counts(Load& into, const Load& from) {
  into.offered += from.offered;
  into.completed += from.completed;
  into.timed_out += from.timed_out;
  into.unfinished += from.unfinished;
  into.failed += from.failed;
  for (std::size_t i = 0; i < std::min(into.instances.size(), from.instances.size()); ++i)
    add_instance(into.instances[i], from.instances[i]);
  into.warmup_requests += from.warmup_requests;
  into.requests = std::min(into.requests, from.requests);
  if (from.requests_needed && (!into.requests_needed || *from.requests_needed > *into.requests_needed))
    into.requests_needed = from.requests_needed;
}

void add_worst(Load& into, const Load& from) {
  keep_worst(into.utilization, from.utilization);
  keep_worst(into.completed_frac, from.completed_frac, false);
  for (const auto delay : {&Load::issue_delay_p50_ns, &Load::issue_delay_p99_ns, &Load::issue_delay_max_ns})
    keep_worst(into.*delay, from.*delay);
  keep_worst(into.backlog_slope_frac, from.backlog_slope_frac);
  keep_worst(into.saturation_per_s, from.saturation_per_s, false);
  add_capacity(into.capacity, from.capacity);
  keep_worst(into.completed_per_s, from.completed_per_s, false);
  for (const auto& words : from.invalid)
    if (std::find(into.invalid.begin(), into.invalid.end(), words) == into.invalid.end())
      into.invalid.push_back(words);
}

// Every process must pass; one that misses decides. Of equal verdicts that at the lowest rate stands.
void add_slo(Load& into, const Load& from) {
  constexpr std::array kOrder{Verdict::kYes, Verdict::kCannotSay, Verdict::kNo};
  const auto weight = [&](const SloResult& s) {
    const auto place = std::ranges::find(kOrder, s.verdict.value) - kOrder.begin();
    return std::pair(place, -s.offered_per_s.value().value_or(0));
  };
  if (!into.slo || !from.slo) return;
  if (weight(*from.slo) > weight(*into.slo)) into.slo = from.slo;
}

// Requests of all schedules over the time that they take.
Number offered_rate(const std::vector<Repetition>& repetitions) {
  double requests = 0, seconds = 0;
  for (const auto& r : repetitions) {
    if (!r.load() || !r.load()->offered_per_s) continue;
    const auto offered = static_cast<double>(r.load()->offered);
    requests += offered, seconds += offered / *r.load()->offered_per_s;
  }
  return seconds > 0 ? Number(requests / seconds) : Number::missing("no request was counted");
}

std::string too_short(const Load& load, std::uint32_t ppm) {
  if (!load.utilization) return "the saturation rate is not known: " + load.utilization.reason();
  const auto needed = stats::required_requests(ppm, *load.utilization);
  if (!needed)
    return fmt::format("the offered load is {} of saturation: latencies grow for as long as the run lasts",
                       format_fixed(*load.utilization, 2));
  if (load.requests >= *needed) return {};
  return fmt::format("needs {} more requests ({} at load {}; {} were counted)", *needed - load.requests,
                     *needed, format_fixed(*load.utilization, 2), load.requests);
}

void withdraw(Quantile& q, const std::string& reason) {
  q.value_ns = q.ci_low_ns = q.ci_high_ns = q.actual_coverage = Number::missing(reason);
}

void explain_infinity(Number& number) {
  if (!number && number.reason() == "not_finite") number = Number::missing(kNeverCompleted);
}

}  // namespace

void summarize_load(Load& load, Scenario scenario, const std::vector<Sample>& samples) {
  const auto mine = counted(samples);
  load.invalid.clear();
  count_requests(load, samples);
  const Times t = times_of(mine);
  judge_instances(load, samples);
  if (traits_of(scenario).keeps_in_flight) judge_closed_loop(load, t);
  if (!traits_of(scenario).open_loop) {
    load.offered_per_s = load.completed_per_s = load.utilization = Number::missing(kNoServer);
    load.issue_delay_p50_ns = load.issue_delay_p99_ns = load.issue_delay_max_ns = load.issue_delay_limit_ns =
        load.backlog_slope_frac = Number::missing(kNoServer);
    load.requests_needed = Count::missing(kNoServer);
    load.mean_batch = Number::missing(kNoServer);
    return;
  }
  load.in_flight = Number::missing("not a closed loop");
  fill_rates(load, mine, t);
  fill_issue_delay(load, mine);
  load.stages = stages_of(samples);
  fill_batches(load, samples);
  judge_server(load);
  if (load.slo) judge_slo(load, *load.slo, latencies_ns(samples));
}

bool issued_late(const Load& load) {
  return load.issue_delay_p99_ns && load.issue_delay_limit_ns &&
         *load.issue_delay_p99_ns > *load.issue_delay_limit_ns;
}

std::string capacity_in_words(const Capacity& capacity) {
  if (!capacity.per_s) return "no rate was found: " + capacity.per_s.reason();
  const std::string rate = format_rate(*capacity.per_s);
  if (!capacity.missed_per_s)
    return fmt::format("at least {}/s: {}", rate, capacity.missed_per_s.reason()) +
           (capacity.stopped.empty() ? "" : "; " + capacity.stopped);
  return fmt::format("{}/s holds, {}/s was tried and missed", rate, format_rate(*capacity.missed_per_s)) +
         (capacity.stopped.empty() ? "" : "; rates between them are open: " + capacity.stopped);
}

std::string replay_in_words(const Replay& replay) {
  return fmt::format(
      "schedule {} ({}, in {}): {}{} times{}", shown_path(replay.file), replay.format,
      replay.unit == "date" ? "dates" : replay.unit,
      replay.replayed == replay.times ? "all " : fmt::format("the first {} of ", replay.replayed),
      replay.times, replay.speed == 1 ? "" : fmt::format(", {:.3g} times as fast", replay.speed));
}

std::optional<Load> combined_load(const std::vector<Repetition>& repetitions,
                                  const std::vector<Sample>& samples) {
  std::optional<Load> all;
  for (const auto& r : repetitions) {
    if (!r.load()) continue;
    if (!all) {
      all = *r.load();
      continue;
    }
    add_counts(*all, *r.load());
    add_worst(*all, *r.load());
    add_slo(*all, *r.load());
  }
  if (!all || all->arrival.empty()) return all;
  if (const auto rate = offered_rate(repetitions)) all->offered_per_s = rate;
  all->stages = stages_of(samples);
  fill_batches(*all, samples);
  return all;
}

std::vector<double> completion_periods(Scenario scenario, std::int64_t concurrency,
                                       const std::vector<Sample>& samples) {
  const Times t = times_of(counted(samples));
  auto ends = t.ends;
  std::erase_if(ends, [](double end) { return !std::isfinite(end); });
  std::sort(ends.begin(), ends.end());
  if (ends.empty()) return {};
  stats::Interval window{ends.front(), ends.back()};
  if (traits_of(scenario).all_at_start) window.low = *std::min_element(t.starts.begin(), t.starts.end());
  if (traits_of(scenario).keeps_in_flight)
    window = stats::steady_window(t.starts, t.ends, concurrency).value_or(window);
  std::vector<double> periods;
  double previous = window.low;
  for (const double end : ends) {
    if (end <= window.low || end > window.high) continue;
    periods.push_back(end - previous);
    previous = end;
  }
  return periods;
}

void apply_length_rule(CaseResult& result) {
  if (!result.load() || !traits_of(result.benchmark.scenario).open_loop) return;
  const Load& load = *result.load();
  for (auto& q : result.stats.quantiles) {
    const auto reason = too_short(load, static_cast<std::uint32_t>(std::llround(q.p * 1e6)));
    if (!reason.empty()) withdraw(q, reason);
    for (auto* number : {&q.value_ns, &q.ci_low_ns, &q.ci_high_ns}) explain_infinity(*number);
  }
  for (auto* number : {&result.stats.mean_ns, &result.stats.max_ns, &result.stats.stddev_ns,
                       &result.stats.median_ns, &result.stats.mad_ns, &result.headline.p50_ns.value})
    explain_infinity(*number);
  const auto reason = too_short(load, stats::kPpmP50);
  if (!reason.empty())
    result.headline.p50_ns.ci_low = result.headline.p50_ns.ci_high = Number::missing(reason);
  const auto tail = too_short(load, stats::kPpmP99);
  if (tail.empty()) return;
  for (auto& stage : result.load()->stages) stage.p99_ns = Number::missing(tail);
}

void apply_load_rules(CaseResult& result) {
  if (!result.load()) return;
  const auto& invalid = result.load()->invalid;
  if (invalid.empty()) return;
  result.grade = Grade::kC;
  result.grade_reasons.insert(result.grade_reasons.begin(), invalid.begin(), invalid.end());
}

}  // namespace paceline::result
