// SPDX-License-Identifier: MIT
#include "result/summarize_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "result/case_fields.h"
#include "stats/order_statistics.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

constexpr double kPersistent = 0.01;      // probability of so many slowest steps by chance
constexpr double kNoticeablyLate = 1.02;  // of the median rank

// The same step on every rank, in the order of ranks.
using StepAcross = std::vector<const StepRow*>;

struct Part {
  std::int64_t StepRow::*row;
  Number StepParts::*figure;
};
constexpr std::array<Part, 7> kParts{{{&StepRow::step_ns, &StepParts::step_ns},
                                      {&StepRow::data_wait_ns, &StepParts::data_wait_ns},
                                      {&StepRow::input_ns, &StepParts::input_ns},
                                      {&StepRow::forward_ns, &StepParts::forward_ns},
                                      {&StepRow::backward_ns, &StepParts::backward_ns},
                                      {&StepRow::exposed_ns, &StepParts::exposed_ns},
                                      {&StepRow::optimizer_ns, &StepParts::optimizer_ns}}};

std::vector<RankSteps> in_order(std::vector<RankSteps> ranks) {
  std::sort(ranks.begin(), ranks.end(),
            [](const auto& a, const auto& b) { return a.rank.rank < b.rank.rank; });
  for (auto& table : ranks)
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [](const StepRow& a, const StepRow& b) { return a.step < b.step; });
  return ranks;
}

[[noreturn]] void refuse(const RankSteps& table, std::int64_t step, const char* what) {
  throw Error(ErrorCode::kData,
              fmt::format("the steps of the ranks do not fit together: rank {} {} step {}; run "
                          "it again, and keep the logs of its ranks if it happens again",
                          table.rank.rank, what, step));
}

// `first` and `table` are in order of steps.
void require_same_steps(const RankSteps& first, const RankSteps& table) {
  const std::size_t n = std::max(first.rows.size(), table.rows.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (i >= table.rows.size()) refuse(table, first.rows[i].step, "lacks");
    const StepRow& row = table.rows[i];
    if (i > 0 && row.step == table.rows[i - 1].step) refuse(table, row.step, "has two rows of");
    if (i >= first.rows.size() || row.step < first.rows[i].step) refuse(first, row.step, "lacks");
    if (row.step > first.rows[i].step) refuse(table, first.rows[i].step, "lacks");
    if (row.phase != first.rows[i].phase) refuse(table, row.step, "counts differently");
  }
}

std::vector<StepAcross> aligned(const std::vector<RankSteps>& ranks) {
  if (ranks.empty() || ranks.front().rows.empty())
    throw Error(ErrorCode::kData, "a training run without a single step; see the log of the case");
  std::vector<StepAcross> steps(ranks.front().rows.size());
  for (const auto& table : ranks) {
    require_same_steps(ranks.front(), table);
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i].push_back(&table.rows[i]);
  }
  return steps;
}

std::vector<StepAcross> timed_only(std::vector<StepAcross> steps) {
  std::erase_if(steps, [](const StepAcross& s) { return s.front()->phase != StepPhase::kTimed; });
  return steps;
}

template <typename Get>
double mean_over_ranks(const StepAcross& step, Get get) {
  double sum = 0;
  for (const StepRow* row : step) sum += static_cast<double>(get(*row));
  return sum / static_cast<double>(step.size());
}

// Position of the largest; of equals the first, so that the order in which ranks report does not matter.
template <typename Get>
std::size_t slowest(const StepAcross& step, Get get) {
  const auto most = std::max_element(step.begin(), step.end(),
                                     [&](const StepRow* a, const StepRow* b) { return get(*a) < get(*b); });
  return static_cast<std::size_t>(most - step.begin());
}

std::int64_t duration_of(const StepRow& row) {
  return row.step_ns;
}
std::int64_t compute_of(const StepRow& row) {
  return row.compute_ns();
}

std::int64_t step_time(const StepAcross& step) {
  return step[slowest(step, duration_of)]->step_ns;
}

Number median_or_missing(const std::vector<double>& values) {
  return values.empty() ? Number::missing("no timed steps") : Number(stats::median(values));
}

// Median over steps.
template <typename Get>
Number median_over(const std::vector<StepAcross>& steps, Get get) {
  std::vector<double> values;
  for (const auto& step : steps) values.push_back(get(step));
  return median_or_missing(values);
}

StepParts mean_parts(const std::vector<StepAcross>& timed) {
  StepParts parts;
  for (const auto& part : kParts)
    parts.*part.figure = median_over(timed, [&](const StepAcross& step) {
      return mean_over_ranks(step, [&](const StepRow& row) { return row.*part.row; });
    });
  return parts;
}

RankFigures figures_of(const RankSteps& table, std::size_t at, const std::vector<StepAcross>& timed) {
  RankFigures figures = table.rank;
  for (const auto& part : kParts)
    figures.parts.*part.figure =
        median_over(timed, [&](const StepAcross& step) { return static_cast<double>(step[at]->*part.row); });
  figures.compute_ns =
      median_over(timed, [&](const StepAcross& step) { return static_cast<double>(step[at]->compute_ns()); });
  figures.slowest_steps = std::count_if(
      timed.begin(), timed.end(), [&](const StepAcross& step) { return slowest(step, compute_of) == at; });
  return figures;
}

double lateness(const StepAcross& step) {
  std::vector<double> compute;
  for (const StepRow* row : step) compute.push_back(static_cast<double>(row->compute_ns()));
  return *std::max_element(compute.begin(), compute.end()) / stats::median(compute);
}

// Late too often for chance, and by enough to matter.
Count persistent_straggler(const std::vector<RankFigures>& ranks, std::int64_t steps) {
  if (ranks.size() < 2) return Count::missing("one rank");
  std::vector<double> medians;
  for (const auto& rank : ranks) medians.push_back(rank.compute_ns.value().value_or(0));
  const auto& most = *std::max_element(
      ranks.begin(), ranks.end(),
      [](const RankFigures& a, const RankFigures& b) { return a.slowest_steps < b.slowest_steps; });
  const double chance =
      1 - stats::binomial_cdf(steps, 1 / static_cast<double>(ranks.size()), most.slowest_steps - 1);
  const bool late = steps > 0 && chance < kPersistent &&
                    most.compute_ns.value().value_or(0) >= kNoticeablyLate * stats::median(medians);
  return late ? Count(most.rank) : Count::missing("no rank is persistently late");
}

Number share_of_step(const std::vector<StepAcross>& timed, std::int64_t StepRow::*part) {
  return median_over(timed, [&](const StepAcross& step) {
    return mean_over_ranks(step, [&](const StepRow& row) { return row.*part; }) /
           static_cast<double>(step_time(step));
  });
}

Number variation_of_exposed(const std::vector<StepAcross>& timed) {
  std::vector<double> exposed;
  for (const auto& step : timed)
    exposed.push_back(mean_over_ranks(step, [](const StepRow& row) { return row.exposed_ns; }));
  if (exposed.empty()) return Number::missing("no timed steps");
  const auto sorted = stats::sorted_copy(exposed);
  const double p50 = stats::median_sorted(sorted);
  if (p50 <= 0) return Number::missing("no communication was exposed");
  return stats::nearest_rank(sorted, stats::kPpmP95) / p50;
}

// All-reduces of gradients.
Count launches_a_step(const std::vector<StepAcross>& timed) {
  const auto n = median_over(
      timed, [](const StepAcross& step) { return static_cast<double>(step.front()->buckets.size()); });
  return n ? Count(std::llround(*n)) : Count::missing(n.reason());
}

void fill_communication(Training& t, const std::vector<StepAcross>& timed) {
  const auto alone = Number::missing(t.ddp ? "one rank" : "one rank without DDP");
  const bool several = t.ranks.size() > 1;
  if (t.ddp && !t.collectives_per_step) t.collectives_per_step = launches_a_step(timed);
  t.exposed_share = t.ddp ? share_of_step(timed, &StepRow::exposed_ns) : alone;
  t.sync_variation = several ? variation_of_exposed(timed) : alone;
  t.straggler_index = several ? median_over(timed, lateness) : alone;
}

std::vector<BucketFigures> bucket_figures(const std::vector<StepAcross>& timed) {
  std::vector<BucketFigures> figures;
  std::size_t n = 0;
  for (const auto& step : timed) n = std::max(n, step.front()->buckets.size());
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> launched, finished;
    BucketFigures bucket;
    for (const auto& step : timed) {
      if (i >= step.front()->buckets.size()) continue;
      const BucketTimes& times = step.front()->buckets[i];
      bucket.bytes = times.bytes;
      launched.push_back(static_cast<double>(times.launch_ns));
      finished.push_back(static_cast<double>(times.finish_ns));
    }
    bucket.launched_ns = median_or_missing(launched);
    bucket.finished_ns = median_or_missing(finished);
    figures.push_back(bucket);
  }
  return figures;
}

// Mean over steps and ranks of the losses that are there.
Number mean_loss(std::span<const StepAcross> steps) {
  double sum = 0;
  std::int64_t n = 0;
  for (const auto& step : steps)
    for (const StepRow* row : step)
      if (row->loss) sum += *row->loss, ++n;
  return n > 0 ? Number(sum / static_cast<double>(n)) : Number::missing("not_finite");
}

Number accuracy_of(std::span<const StepAcross> steps) {
  std::int64_t correct = 0, judged = 0;
  for (const auto& step : steps)
    for (const StepRow* row : step) correct += row->correct, judged += row->judged;
  if (judged == 0) return Number::missing("no labels to judge by");
  return static_cast<double>(correct) / static_cast<double>(judged);
}

// From the first start to the last end, on the first rank's clock.
double span_ns(std::span<const StepAcross> steps) {
  const StepRow& last = *steps.back().front();
  return static_cast<double>(last.start_ns + last.step_ns - steps.front().front()->start_ns);
}

EpochFigures epoch_figures(std::span<const StepAcross> steps, std::int64_t samples_per_step) {
  EpochFigures e;
  e.epoch = steps.front().front()->epoch;
  e.steps = static_cast<std::int64_t>(steps.size());
  e.samples = e.steps * samples_per_step;
  e.loss = mean_loss(steps);
  e.accuracy = accuracy_of(steps);
  e.learning_rate = steps.back().front()->learning_rate;
  e.seconds = span_ns(steps) * 1e-9;
  e.samples_per_s = static_cast<double>(e.samples) / *e.seconds;
  std::vector<double> times;
  for (const auto& step : steps) times.push_back(static_cast<double>(step_time(step)));
  e.step_p50_ns = stats::median(times);
  return e;
}

std::vector<EpochFigures> epochs_of(std::span<const StepAcross> steps, std::int64_t samples_per_step) {
  std::vector<EpochFigures> epochs;
  for (std::size_t begin = 0, end; begin < steps.size(); begin = end) {
    end = begin;
    while (end < steps.size() && steps[end].front()->epoch == steps[begin].front()->epoch) ++end;
    epochs.push_back(epoch_figures(steps.subspan(begin, end - begin), samples_per_step));
  }
  return epochs;
}

std::int64_t skipped_steps(const std::vector<StepAcross>& steps) {
  return std::count_if(steps.begin(), steps.end(), [](const StepAcross& step) {
    return std::any_of(step.begin(), step.end(), [](const StepRow* row) { return row->skipped; });
  });
}

Number loader_rate(const std::vector<RankSteps>& ranks) {
  double sum = 0;
  for (const auto& table : ranks) {
    if (!table.loader_samples_per_s) return table.loader_samples_per_s;
    sum += *table.loader_samples_per_s;
  }
  return sum;
}

void fill_course(Training& t, const std::vector<StepAcross>& steps, std::int64_t samples_per_step) {
  const std::span<const StepAcross> all(steps);
  t.epochs = epochs_of(all, samples_per_step);
  t.first_loss = mean_loss(all.first(1));
  t.last_loss = mean_loss(all.last(1));
  t.steps = static_cast<std::int64_t>(steps.size());
  t.skipped_steps = skipped_steps(steps);
  t.total_ns = span_ns(all);
}

// Figures of speed: over repetitions their median stands.
constexpr std::array kSpeedFigures{&Training::total_ns,        &Training::exposed_share,
                                   &Training::data_wait_share, &Training::straggler_index,
                                   &Training::sync_variation,  &Training::loader_samples_per_s};

template <typename Struct, typename Get>
void set_median(Number Struct::*field, Struct& into, const std::vector<const Training*>& all, Get get) {
  std::vector<double> values;
  for (const Training* one : all)
    if (const Number& value = get(*one).*field) values.push_back(*value);
  if (!values.empty()) into.*field = stats::median(values);
}

// Equal for cases that differ in nothing but the number of ranks.
std::string work_of_a_rank(const CaseResult& one) {
  Benchmark b = one.benchmark;
  b.id.clear();
  b.world_size = 0;
  return Writer::write(b).dump();
}

struct LogInterval {
  double value = 0;
  std::optional<double> low, high;
};

LogInterval log_of(const Estimate& e) {
  const auto log = [](const Number& n) { return n ? std::optional(std::log(*n)) : std::nullopt; };
  return {std::log(*e.value), log(e.ci_low), log(e.ci_high)};
}

// MOVER on logs: a the base, b this.
void set_interval(Scaling& s, const LogInterval& a, const LogInterval& b) {
  if (!a.low || !a.high || !b.low || !b.high) {
    s.ci_low = s.ci_high = Number::missing("a step time of the two has no interval");
    return;
  }
  const double d = a.value - b.value;
  s.ci_low = std::exp(d - std::hypot(a.value - *a.low, *b.high - b.value));
  s.ci_high = std::exp(d + std::hypot(*a.high - a.value, b.value - *b.low));
  s.superlinear = *s.ci_low > 1;
}

Scaling scaling_of(const CaseResult& one, const CaseResult& base) {
  Scaling s;
  s.base_case_id = base.case_id;
  s.base_world = base.benchmark.world_size;
  s.world = one.benchmark.world_size;
  const LogInterval a = log_of(base.headline.p50_ns), b = log_of(one.headline.p50_ns);
  s.efficiency = std::exp(a.value - b.value);
  s.speedup = *s.efficiency * static_cast<double>(s.world) / static_cast<double>(s.base_world);
  set_interval(s, a, b);
  return s;
}

bool is_measured_training(const CaseResult& one) {
  return one.outcome == Outcome::kOk && !one.training.empty() && one.headline.p50_ns.value;
}

}  // namespace

std::vector<Sample> step_samples(const std::vector<RankSteps>& ranks, std::int32_t repetition) {
  const auto ordered = in_order(ranks);
  std::vector<Sample> samples;
  for (const auto& step : timed_only(aligned(ordered))) {
    const std::size_t at = slowest(step, duration_of);
    Sample s;
    s.repetition = repetition;
    s.rank = static_cast<std::int32_t>(ordered[at].rank.rank);
    s.index = static_cast<std::int64_t>(samples.size());
    s.start_ns = step.front()->start_ns;
    s.host_ns = step[at]->step_ns;
    samples.push_back(s);
  }
  return samples;
}

void summarize_training(Training& training, std::vector<RankSteps> ranks, std::int64_t samples_per_step) {
  ranks = in_order(std::move(ranks));
  const auto steps = aligned(ranks);
  const auto timed = timed_only(steps);
  training.ranks.clear();
  for (std::size_t i = 0; i < ranks.size(); ++i) training.ranks.push_back(figures_of(ranks[i], i, timed));
  training.parts = mean_parts(timed);
  training.data_wait_share = share_of_step(timed, &StepRow::data_wait_ns);
  training.buckets = bucket_figures(timed);
  training.straggler_rank = persistent_straggler(training.ranks, static_cast<std::int64_t>(timed.size()));
  training.loader_samples_per_s = loader_rate(ranks);
  fill_communication(training, timed);
  fill_course(training, steps, samples_per_step);
}

std::vector<Training> combined_training(const std::vector<Repetition>& repetitions) {
  std::vector<const Training*> all;
  for (const auto& r : repetitions)
    if (!r.training.empty()) all.push_back(&r.training.front());
  if (all.empty()) return {};
  Training combined = *all.back();
  combined.restarts.clear();
  for (const auto* one : all)
    combined.restarts.insert(combined.restarts.end(), one->restarts.begin(), one->restarts.end());
  for (const auto field : kSpeedFigures)
    set_median(field, combined, all, [](const Training& t) -> const Training& { return t; });
  for (const auto& part : kParts)
    set_median(part.figure, combined.parts, all,
               [](const Training& t) -> const StepParts& { return t.parts; });
  const auto named = [&](const Training* t) { return t->straggler_rank == combined.straggler_rank; };
  if (!std::all_of(all.begin(), all.end(), named))
    combined.straggler_rank = Count::missing("not the same rank in every repetition");
  return {combined};
}

void compare_scaling(const std::vector<CaseResult*>& cases) {
  std::map<std::string, CaseResult*> bases;
  for (CaseResult* one : cases) {
    one->scaling.clear();
    if (!is_measured_training(*one)) continue;
    CaseResult*& base = bases[work_of_a_rank(*one)];
    if (base == nullptr || one->benchmark.world_size < base->benchmark.world_size) base = one;
  }
  for (CaseResult* one : cases) {
    if (!is_measured_training(*one)) continue;
    const CaseResult* base = bases.at(work_of_a_rank(*one));
    if (base->benchmark.world_size < one->benchmark.world_size)
      one->scaling.push_back(scaling_of(*one, *base));
  }
}

}  // namespace paceline::result
