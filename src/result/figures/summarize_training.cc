// SPDX-License-Identifier: MIT
#include "result/figures/summarize_training.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "result/figures/aligned_steps.h"
#include "result/figures/late_rank.h"
#include "result/figures/step_account.h"
#include "result/figures/training_course.h"
#include "stats/order_statistics.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

using Span = std::pair<std::int64_t, std::int64_t>;

// How much of the time before `end` the spans cover together; the spans are sorted by start.
std::int64_t covered_before(const std::vector<Span>& spans, std::int64_t end) {
  std::int64_t covered = 0, until = 0;
  for (const auto& [from, to] : spans) {
    const auto start = std::max(from, until), stop = std::min(to, end);
    covered += std::max<std::int64_t>(0, stop - start);
    until = std::max(until, stop);
  }
  return covered;
}

// One step of all ranks.
struct StepOfRanks {
  double mean_ns = 0;  // over the ranks, as those of its parts
  PerPart<StepPart, double> part_means{};
  double time_ns = 0;       // of the slowest rank
  double lateness = 0;      // the largest compute time over their median
  std::size_t slowest = 0;  // index of the rank with the largest compute time
};

// Everything in one look at the rows, which are far apart in memory.
StepOfRanks of_ranks(const StepAcross& step) {
  StepOfRanks one;
  std::vector<double> compute;
  compute.reserve(step.size());
  for (const StepRow* row : step) {
    one.mean_ns += static_cast<double>(row->step_ns);
    for (const auto part : kStepParts) one.part_means[part] += static_cast<double>(row->ns[part]);
    one.time_ns = std::max(one.time_ns, static_cast<double>(row->step_ns));
    compute.push_back(static_cast<double>(row->compute_ns()));
  }
  one.mean_ns /= static_cast<double>(step.size());
  for (double& mean : one.part_means.values) mean /= static_cast<double>(step.size());
  const auto most = std::max_element(compute.begin(), compute.end());
  one.slowest = static_cast<std::size_t>(most - compute.begin());
  one.lateness = *most / stats::median(compute);
  return one;
}

using StepsOfRanks = std::vector<StepOfRanks>;

StepParts mean_parts(const StepsOfRanks& timed) {
  StepParts parts;
  parts.step_ns = median_over(timed, [](const StepOfRanks& step) { return step.mean_ns; });
  for (const auto part : kStepParts)
    parts.ns[part] = median_over(timed, [&](const StepOfRanks& step) { return step.part_means[part]; });
  return parts;
}

RankFigures figures_of(const RankSteps& table, std::size_t at, const std::vector<StepAcross>& timed) {
  RankFigures figures = table.rank;
  const auto median_of = [&](auto get) {
    return median_over(timed, [&](const StepAcross& step) { return static_cast<double>(get(*step[at])); });
  };
  figures.parts.step_ns = median_of([](const StepRow& row) { return row.step_ns; });
  for (const auto part : kStepParts)
    figures.parts.ns[part] = median_of([part](const StepRow& row) { return row.ns[part]; });
  figures.compute_ns = median_of([](const StepRow& row) { return row.compute_ns(); });
  return figures;
}

void count_slowest_steps(std::vector<RankFigures>& ranks, const StepsOfRanks& timed) {
  for (auto& rank : ranks) rank.slowest_steps = 0;
  for (const auto& step : timed) ++ranks[step.slowest].slowest_steps;
}

const char* without_ddp(const Training& t) {
  return t.ranks.size() > 1 ? "ranks without DDP do not communicate" : "one rank without DDP";
}

// As a share of the mean step of the typical rank; without its costs, of the time of all steps, mean over
// the ranks. Times are added up, quotients are not averaged, so the shares add up to at most 1.
Number share_of_steps(const StepsOfRanks& timed, StepPart part) {
  double of_part = 0, of_steps = 0;
  for (const auto& step : timed) of_part += step.part_means[part], of_steps += step.time_ns;
  return of_steps > 0 ? Number(of_part / of_steps) : Number::missing("no timed steps");
}

std::optional<StepShares> shares_of_typical(const StepCosts& costs) {
  if (!costs.step_ns.value || *costs.step_ns.value <= 0) return std::nullopt;
  const double step = *costs.step_ns.value;
  StepShares shares;
  for (const OwnPart part : kOwnParts)
    if (const auto measured = traits_of(part).measured; measured != StepPart::kCount)
      shares[measured] = *costs.own_ns[part].value / step;
  shares[StepPart::kExposed] = (*costs.straggler_wait_ns.value + *costs.communication_ns.value) / step;
  return shares;
}

StepShares shares_of(const StepsOfRanks& timed) {
  StepShares shares;
  for (const auto part : kStepParts) shares[part] = share_of_steps(timed, part);
  return shares;
}

Number variation_of_exposed(const StepsOfRanks& timed) {
  std::vector<double> exposed;
  for (const auto& step : timed) exposed.push_back(step.part_means[StepPart::kExposed]);
  if (exposed.empty()) return Number::missing("no timed steps");
  const auto sorted = stats::sorted_copy(exposed);
  const double p50 = stats::median_sorted(sorted);
  if (p50 <= 0) return Number::missing("no communication was exposed");
  return stats::nearest_rank(sorted, stats::kPpmP95) / p50;
}

// All-reduces of gradients per step.
Count launches_per_step(const std::vector<StepAcross>& timed) {
  const auto n = median_over(
      timed, [](const StepAcross& step) { return static_cast<double>(step.front()->buckets.size()); });
  return n ? Count(std::llround(*n)) : Count::missing(n.reason());
}

void fill_communication(Training& t, const std::vector<StepAcross>& timed, const StepsOfRanks& steps) {
  const auto alone = Number::missing(t.ddp ? "one rank" : without_ddp(t));
  const bool several = t.ranks.size() > 1;
  if (t.ddp && !t.collectives_per_step) t.collectives_per_step = launches_per_step(timed);
  t.overlap_ratio = t.ddp ? overlap_ratio(timed) : alone;
  t.sync_variation = several ? variation_of_exposed(steps) : alone;
  t.straggler_index = several ? median_over(steps, [](const auto& step) { return step.lateness; }) : alone;
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
      if (times.finish_ns) finished.push_back(static_cast<double>(*times.finish_ns));
    }
    bucket.launched_ns = median_or_missing(launched);
    bucket.finished_ns = finished.empty() && !launched.empty()
                             ? Number::missing("no end was heard of within a step")
                             : median_or_missing(finished);
    figures.push_back(bucket);
  }
  return figures;
}

Number loader_rate(const std::vector<const RankSteps*>& ranks) {
  double sum = 0;
  for (const RankSteps* table : ranks) {
    if (!table->loader_samples_per_s) return table->loader_samples_per_s;
    sum += *table->loader_samples_per_s;
  }
  return sum;
}

// Figures of speed, of which the median over repetitions is kept.
constexpr std::array kSpeedFigures{&Training::total_ns, &Training::straggler_index, &Training::sync_variation,
                                   &Training::loader_samples_per_s, &Training::overlap_ratio};

// `get` says which figure of a Training.
template <typename Get>
void set_median(Training& into, const std::vector<const Training*>& all, Get get) {
  std::vector<double> values;
  for (const Training* one : all)
    if (const Number& value = get(*one)) values.push_back(*value);
  if (!values.empty()) get(into) = stats::median(values);
}

void set_shares(Training& into, const StepShares& otherwise) {
  into.shares = shares_of_typical(into.costs).value_or(otherwise);
  if (!into.ddp) into.shares[StepPart::kExposed] = Number::missing(without_ddp(into));
  into.exposed_share = into.shares[StepPart::kExposed];
  into.data_wait_share = into.shares[StepPart::kDataWait];
}

// The notes of all repetitions, each once.
std::vector<std::string> notes_of(const std::vector<const Training*>& all) {
  std::vector<std::string> notes;
  for (const Training* one : all)
    for (const auto& note : one->notes)
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  return notes;
}

// Mean over repetitions: medians of shares could add up to more than 1.
StepShares mean_shares(const std::vector<const Training*>& all) {
  StepShares mean = all.back()->shares;
  for (const auto part : kStepParts) {
    double sum = 0;
    std::size_t n = 0;
    for (const Training* one : all)
      if (const Number& share = one->shares[part]) sum += *share, ++n;
    if (n > 0) mean[part] = sum / static_cast<double>(n);
  }
  return mean;
}

void set_cost_shares(Training& into) {
  const auto of_step = [&](const Estimate& part) {
    const Number& step = into.costs.step_ns.value;
    if (!into.ddp) return Number::missing(without_ddp(into));
    return step && part.value && *step > 0 ? Number(*part.value / *step)
                                           : Number::missing(part.value.reason());
  };
  into.straggler_wait_share = of_step(into.costs.straggler_wait_ns);
  into.communication_share = of_step(into.costs.communication_ns);
}

void fill_costs(Training& training, const std::vector<StepAcross>& steps) {
  const auto accounts = accounts_of(steps);
  training.costs = costs_of(accounts);
  training.late.clear(), training.suspected.clear();
  if (training.ddp)
    for (auto& late : late_rank_of(accounts, training.ranks))
      (late.certain ? training.late : training.suspected).push_back(std::move(late));
  training.straggler_rank = !training.late.empty()      ? Count(training.late.front().rank)
                            : training.ranks.size() < 2 ? Count::missing("one rank")
                            : !training.ddp             ? Count::missing(without_ddp(training))
                                                        : Count::missing("no rank is late with certainty");
  set_transfers(training.buckets, accounts);
  set_cost_shares(training);
}

StepCosts costs_of_all(const std::vector<const Training*>& all) {
  std::vector<const StepCosts*> costs;
  for (const Training* one : all) costs.push_back(&one->costs);
  return mean_costs(costs);
}

const LateRank* main_late_rank(const Training& t) {
  return !t.late.empty() ? &t.late.front() : !t.suspected.empty() ? &t.suspected.front() : nullptr;
}

// A rank counts where every repetition blames it, with certainty where one of them does.
void set_late(Training& combined, const std::vector<const Training*>& all) {
  const Training* certain = nullptr;
  for (const Training* one : all)
    if (!one->late.empty()) certain = one;
  const Training& from = certain != nullptr ? *certain : *all.back();
  combined.late = from.late, combined.suspected = from.suspected,
  combined.straggler_rank = from.straggler_rank;
  const LateRank* rank = main_late_rank(combined);
  if (rank == nullptr || std::ranges::all_of(all, [&](const Training* one) {
        return main_late_rank(*one) != nullptr && main_late_rank(*one)->rank == rank->rank;
      }))
    return;
  if (certain != nullptr) combined.straggler_rank = Count::missing("not the same rank in every repetition");
  combined.late.clear(), combined.suspected.clear();
}

// A cause counts where every repetition has it.
void keep_common_causes(std::vector<LateCause>& causes, const std::vector<const Training*>& all) {
  std::erase_if(causes, [&](const LateCause& cause) {
    return !std::ranges::all_of(all, [&](const Training* one) {
      return one->late.empty() || std::ranges::find(one->late.front().causes, cause.name, &LateCause::name) !=
                                      one->late.front().causes.end();
    });
  });
}

}  // namespace

Number overlap_ratio(const StepRow& row) {
  std::vector<Span> spans;
  std::int64_t last_launch = 0, last_end = 0;
  for (const auto& bucket : row.buckets) {
    if (!bucket.finish_ns) return Number::missing(kEndUnknown);
    spans.emplace_back(bucket.launch_ns, *bucket.finish_ns);
    last_launch = std::max(last_launch, bucket.launch_ns);
    last_end = std::max(last_end, *bucket.finish_ns);
  }
  std::sort(spans.begin(), spans.end());
  const auto all = covered_before(spans, last_end);
  if (all <= 0) return Number::missing("no gradients were exchanged");
  return static_cast<double>(covered_before(spans, last_launch)) / static_cast<double>(all);
}

Number overlap_ratio(const std::vector<StepAcross>& timed) {
  std::vector<double> means;
  for (const auto& step : timed) {
    double sum = 0;
    for (const StepRow* row : step) {
      const auto one = overlap_ratio(*row);
      if (!one) return one;
      sum += *one;
    }
    means.push_back(sum / static_cast<double>(step.size()));
  }
  return median_or_missing(means);
}

void summarize_training(Training& training, const std::vector<RankSteps>& tables,
                        std::int64_t samples_per_step) {
  const auto steps = aligned(tables);
  const auto ranks = by_rank(tables);
  const auto timed = timed_only(steps);
  StepsOfRanks of_step;
  for (const auto& step : timed) of_step.push_back(of_ranks(step));
  training.ranks.clear();
  for (std::size_t i = 0; i < ranks.size(); ++i) training.ranks.push_back(figures_of(*ranks[i], i, timed));
  count_slowest_steps(training.ranks, of_step);
  training.parts = mean_parts(of_step);
  training.buckets = bucket_figures(timed);
  training.loader_samples_per_s = loader_rate(ranks);
  fill_communication(training, timed, of_step);
  fill_costs(training, steps);
  set_shares(training, shares_of(of_step));
  fill_course(training, steps, samples_per_step);
  add_held_out(training.epochs, ranks.front()->held_out);
}

std::optional<Training> combined_training(const std::vector<Repetition>& repetitions) {
  std::vector<const Training*> all;
  for (const auto& r : repetitions)
    if (r.training()) all.push_back(r.training());
  if (all.empty()) return {};
  Training combined = *all.back();
  combined.restarts.clear();
  for (const auto* one : all)
    combined.restarts.insert(combined.restarts.end(), one->restarts.begin(), one->restarts.end());
  combined.notes = notes_of(all);
  for (const auto field : kSpeedFigures)
    set_median(
        combined, all, [field](auto& t) -> auto& { return t.*field; });
  combined.costs = costs_of_all(all);
  set_shares(combined, mean_shares(all));
  set_cost_shares(combined);
  set_median(
      combined, all, [](auto& t) -> auto& { return t.parts.step_ns; });
  for (const auto part : kStepParts)
    set_median(
        combined, all, [part](auto& t) -> auto& { return t.parts.ns[part]; });
  set_late(combined, all);
  for (auto& late : combined.late) keep_common_causes(late.causes, all);
  return combined;
}

}  // namespace paceline::result
