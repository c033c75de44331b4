// SPDX-License-Identifier: MIT
#include "result/figures/step_account.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "stats/batch_means.h"
#include "stats/quantile.h"
#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::result {
namespace {

// The parts of a step that come after the exchange of gradients.
std::int64_t after_exchange(const StepRow& row) {
  std::int64_t sum = 0;
  for (auto part = kOwnParts.begin(); *part != OwnPart::kPause; ++part)
    sum += row.ns[traits_of(*part).measured];
  return sum;
}

// When the last gradients were ready, from the start of the step; without buckets communication is one piece.
std::int64_t tail_of(const StepRow& row) {
  std::int64_t ready = 0;
  for (const auto& bucket : row.buckets) ready = std::max(ready, bucket.launch_ns);
  const auto exposed = row.ns[StepPart::kExposed];
  if (row.buckets.empty()) return exposed;
  return std::clamp<std::int64_t>(row.step_ns - after_exchange(row) - ready, 0, exposed);
}

double pause_between(const StepRow& before, const StepRow& row) {
  return static_cast<double>(row.start_ns - before.start_ns - before.step_ns);
}

// Own times of every rank; what others cost it is added below.
std::vector<RankAccount> own_times(const StepAcross& before, const StepAcross& step) {
  double shortest = pause_between(*before.front(), *step.front());
  for (std::size_t r = 0; r < step.size(); ++r)
    shortest = std::min(shortest, pause_between(*before[r], *step[r]));
  std::vector<RankAccount> ranks(step.size());
  for (std::size_t r = 0; r < step.size(); ++r) {
    const StepRow& row = *step[r];
    auto& own = ranks[r].own;
    for (const OwnPart part : kOwnParts)
      if (const auto measured = traits_of(part).measured; measured != StepPart::kCount)
        own[part] = static_cast<double>((part < OwnPart::kPause ? *before[r] : row).ns[measured]);
    own[OwnPart::kPause] = pause_between(*before[r], row) - shortest;
    own[OwnPart::kHost] = static_cast<double>(row.step_ns - row.ns.sum());
  }
  return ranks;
}

// Until a rank asks for the buffers that rank 0 sends before the forward pass.
double before_forward(const RankAccount& account) {
  double sum = 0;
  for (auto part = kOwnParts.begin(); *part != OwnPart::kForward; ++part) sum += account.own[*part];
  return sum;
}

// Wait of each rank for another one before the forward pass: at most from its own asking to the last rank's,
// and at most what its broadcast took beyond the shortest. Rank 0 may wait, too: a sender of gloo waits for
// its receivers.
std::vector<double> waits_for_buffers(const std::vector<RankAccount>& ranks,
                                      const std::vector<double>& buffers) {
  const double shortest = *std::ranges::min_element(buffers);
  double last = 0;
  for (const auto& rank : ranks) last = std::max(last, before_forward(rank));
  std::vector<double> waits;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    waits.push_back(std::min(buffers[r] - shortest, last - before_forward(ranks[r])));
  return waits;
}

void add_known_waits(std::vector<RankAccount>& ranks, const StepAcross& step) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto exposed = step[r]->ns[StepPart::kExposed];
    const auto waited = std::clamp<std::int64_t>(step[r]->waited_ns.value_or(0), 0, exposed);
    ranks[r].straggler_wait = static_cast<double>(waited);
    ranks[r].communication = static_cast<double>(exposed - waited);
  }
}

// Splits communication into waiting and transfer. After the backward pass the rank whose exchange was the
// shortest was ready last. Where it was so because its buffers came late, its communication of the whole step
// is as long as that of the others, and they wait for no rank: the smaller difference counts.
void add_waits(std::vector<RankAccount>& ranks, const StepAcross& step) {
  if (step.front()->waited_ns) return add_known_waits(ranks, step);
  std::vector<double> tails, buffers, all;
  for (const StepRow* row : step) {
    tails.push_back(static_cast<double>(tail_of(*row)));
    buffers.push_back(static_cast<double>(row->ns[StepPart::kExposed]) - tails.back());
  }
  const auto for_buffers = waits_for_buffers(ranks, buffers);
  for (std::size_t r = 0; r < ranks.size(); ++r) all.push_back(tails[r] + buffers[r] - for_buffers[r]);
  const double shortest = *std::ranges::min_element(tails), least = *std::ranges::min_element(all);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const double wait = std::min(tails[r] - shortest, all[r] - least);
    ranks[r].straggler_wait = for_buffers[r] + wait;
    ranks[r].communication = all[r] - wait;
  }
}

// From when a bucket was launched everywhere, and the one before was through, to its end. Times count from
// the end of the exchange before.
std::vector<double> transfers_of(const StepAcross& before, const StepAcross& step) {
  std::size_t buckets = step.front()->buckets.size();
  for (const StepRow* row : step) buckets = std::min(buckets, row->buckets.size());
  std::vector<double> transfers;
  double through = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    double launched = 0, finished = 0;
    for (std::size_t r = 0; r < step.size(); ++r) {
      const auto& bucket = step[r]->buckets[b];
      if (!bucket.finish_ns) return {};
      const double start =
          static_cast<double>(after_exchange(*before[r])) + pause_between(*before[r], *step[r]);
      launched = std::max(launched, start + static_cast<double>(bucket.launch_ns));
      const double end = start + static_cast<double>(*bucket.finish_ns);
      finished = r == 0 ? end : std::min(finished, end);
    }
    transfers.push_back(std::max(0.0, finished - std::max(launched, through)));
    through = finished;
  }
  return transfers;
}

// Who was last, and by how much: of the waits beyond level, the least against the one after it.
void set_last(StepAccount& account) {
  if (account.ranks.size() < 2) return;
  std::vector<double> waits;
  for (const auto& rank : account.ranks) waits.push_back(rank.straggler_wait);
  const auto least = std::ranges::min_element(waits);
  const auto last = static_cast<std::size_t>(least - waits.begin());
  const double shortest = *least;
  waits.erase(least);
  account.delay = *std::ranges::min_element(waits) - shortest;
  if (account.delay > kLevelShare * account.ranks[last].sum()) account.last = last;
}

double exposed(const RankAccount& rank) {
  return rank.straggler_wait + rank.communication;
}

double least_exposed(const StepAccount& account) {
  return exposed(*std::ranges::min_element(account.ranks, {}, exposed));
}

// Communication itself takes no rank longer than the rank that was exposed to it least, over all steps: what
// another has beyond that it waited for ranks, whatever exchange it was in, and in whatever part these were
// late. It is taken from where the rank has more than the least exposed one.
void cap_communication(std::vector<StepAccount>& accounts) {
  const std::size_t world = accounts.empty() ? 0 : accounts.front().ranks.size();
  std::vector<double> all(world), communication(world), beyond(world);
  for (const auto& account : accounts) {
    const double least = least_exposed(account);
    for (std::size_t r = 0; r < world; ++r) {
      const RankAccount& rank = account.ranks[r];
      all[r] += exposed(rank), communication[r] += rank.communication;
      beyond[r] += std::max(0.0, rank.communication - least);
    }
  }
  const double least_of_all = world == 0 ? 0 : *std::ranges::min_element(all);
  for (auto& account : accounts) {
    const double least = least_exposed(account);
    for (std::size_t r = 0; r < world; ++r) {
      const double excess = communication[r] - least_of_all;
      if (excess <= 0 || beyond[r] <= 0) continue;
      RankAccount& rank = account.ranks[r];
      const double wait = std::max(0.0, rank.communication - least) * std::min(1.0, excess / beyond[r]);
      rank.communication -= wait, rank.straggler_wait += wait;
    }
  }
}

bool has_buckets(const StepAcross& step) {
  return std::ranges::any_of(step, [](const StepRow* row) { return !row->buckets.empty(); });
}

bool communicates(const StepAcross& step) {
  return std::ranges::any_of(step, [](const StepRow* row) { return row->ns[StepPart::kExposed] > 0; });
}

void add_to(RankAccount& sum, const RankAccount& more) {
  for (const OwnPart part : kOwnParts) sum.own[part] += more.own[part];
  sum.straggler_wait += more.straggler_wait;
  sum.communication += more.communication;
}

bool follows(const StepAcross& before, const StepAcross& step) {
  return before.front()->step + 1 == step.front()->step && before.front()->epoch == step.front()->epoch;
}

// Puts steps together to stretches, each from the end of one exchange to the end of the next.
class Stretches {
 public:
  explicit Stretches(const std::vector<StepAcross>& steps) {
    if (std::ranges::any_of(steps, has_buckets))
      ends_ = has_buckets;
    else if (std::ranges::any_of(steps, communicates))
      ends_ = communicates;
  }

  void add(const StepAcross& before, const StepAcross& step) {
    if (step.front()->phase != StepPhase::kTimed || !follows(before, step)) return void(open_ = {});
    if (ends_(before)) open_.emplace().ranks.resize(step.size()), open_->steps = 0;
    if (!open_) return;
    const bool exchanged = ends_(step);
    auto ranks = own_times(before, step);
    for (std::size_t r = 0; r < ranks.size() && !exchanged; ++r)
      ranks[r].communication = static_cast<double>(step[r]->ns[StepPart::kExposed]);
    if (exchanged || step.front()->waited_ns) add_waits(ranks, step);
    for (std::size_t r = 0; r < ranks.size(); ++r) add_to(open_->ranks[r], ranks[r]);
    open_->step = step.front()->step;
    ++open_->steps;
    if (!exchanged) return;
    if (open_->steps == 1) open_->transfers = transfers_of(before, step);
    accounts_.push_back(*std::exchange(open_, {}));
  }
  [[nodiscard]] std::vector<StepAccount> take() { return std::move(accounts_); }

 private:
  bool (*ends_)(const StepAcross&) = [](const StepAcross&) { return true; };  // with an exchange
  std::optional<StepAccount> open_;                                           // from an exchange on
  std::vector<StepAccount> accounts_;
};

// Pooled over the ranks, each about its own mean.
Number own_deviation(const std::vector<StepAccount>& accounts) {
  if (accounts.size() < 2) return Number::missing("fewer than two steps");
  const auto n = static_cast<double>(accounts.size());
  const std::size_t ranks = accounts.front().ranks.size();
  double squares = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    double mean = 0;
    for (const auto& step : accounts) mean += step.ranks[r].own_sum() / n;
    for (const auto& step : accounts) squares += std::pow(step.ranks[r].own_sum() - mean, 2);
  }
  return std::sqrt(squares / (static_cast<double>(ranks) * (n - 1)));
}

std::int64_t steps_in(const std::vector<StepAccount>& accounts) {
  return std::accumulate(accounts.begin(), accounts.end(), std::int64_t{0},
                         [](std::int64_t sum, const StepAccount& one) { return sum + one.steps; });
}

// Calls `each` for every cost of a step, with the place of its estimate and what it is of a rank.
template <typename Each>
void each_cost(Each each) {
  each(
      [](auto& c) -> auto& { return c.step_ns; }, [](const RankAccount& a) { return a.sum(); });
  for (const OwnPart part : kOwnParts)
    each(
        [part](auto& c) -> auto& { return c.own_ns[part]; },
        [part](const RankAccount& a) { return a.own[part]; });
  each(
      [](auto& c) -> auto& { return c.straggler_wait_ns; },
      [](const RankAccount& a) { return a.straggler_wait; });
  each(
      [](auto& c) -> auto& { return c.communication_ns; },
      [](const RankAccount& a) { return a.communication; });
}

Estimate over_repetitions(const std::vector<double>& values, const Estimate& only) {
  if (values.size() < 2) return only;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  Estimate e{mean, {}, {}, 0.95, "t_processes"};
  const double half = stats::student_t(n - 1, e.confidence) * std::sqrt(squares / (n - 1) / n);
  e.ci_low = mean - half;
  e.ci_high = mean + half;
  return e;
}

// factor x one + other factor x another ..., of independent estimates (MOVER: the half-widths add in
// squares).
struct Term {
  double factor;
  const Estimate* estimate;
};
Estimate combined(std::vector<Term> terms) {
  for (auto& term : terms)
    for (auto& other : terms)
      if (&other != &term && other.estimate == term.estimate) term.factor += std::exchange(other.factor, 0);
  Estimate sum{0, {}, {}, 0.95, "mover"};
  double value = 0, below = 0, above = 0;
  bool bracketed = true;
  for (const auto& [factor, e] : terms) {
    if (!e->value) return {e->value, e->value, e->value, sum.confidence, sum.ci_method};
    value += factor * *e->value;
    bracketed = bracketed && e->ci_low && e->ci_high;
    if (!bracketed) continue;
    const double down = std::abs(factor) * (*e->value - *e->ci_low),
                 up = std::abs(factor) * (*e->ci_high - *e->value);
    below = std::hypot(below, factor > 0 ? down : up);
    above = std::hypot(above, factor > 0 ? up : down);
  }
  sum.value = value;
  sum.ci_low = bracketed ? Number(value - below) : Number::missing("a part of it has no interval");
  sum.ci_high = bracketed ? Number(value + above) : sum.ci_low;
  return sum;
}

// The difference in computing, in which ranks that share a machine disturb each other, between a case and the
// ideal of its base.
std::vector<Term> computing(const StepCosts& one, const StepCosts& base, double ideal) {
  std::vector<Term> terms;
  for (const OwnPart part : kOwnParts) {
    if (part == OwnPart::kDataWait) continue;
    terms.push_back({1, &one.own_ns[part]});
    terms.push_back({-ideal, &base.own_ns[part]});
  }
  return terms;
}

}  // namespace

std::vector<StepAccount> accounts_of(const std::vector<StepAcross>& steps) {
  Stretches stretches(steps);
  for (std::size_t i = 1; i < steps.size(); ++i) stretches.add(steps[i - 1], steps[i]);
  auto accounts = stretches.take();
  cap_communication(accounts);
  std::ranges::for_each(accounts, set_last);
  return accounts;
}

std::size_t typical_rank(const std::vector<StepAccount>& accounts) {
  if (accounts.empty()) return 0;
  std::vector<std::pair<double, std::size_t>> own(accounts.front().ranks.size());
  for (std::size_t r = 0; r < own.size(); ++r) {
    own[r].second = r;
    for (const auto& step : accounts) own[r].first += step.ranks[r].own_sum();
  }
  const auto middle = own.begin() + static_cast<std::ptrdiff_t>((own.size() - 1) / 2);
  std::nth_element(own.begin(), middle, own.end());
  return middle->second;
}

StepCosts costs_of(const std::vector<StepAccount>& accounts) {
  StepCosts costs;
  std::vector<double> values(accounts.size());
  const std::size_t typical = typical_rank(accounts);
  const double per_step = static_cast<double>(accounts.size()) /
                          static_cast<double>(std::max<std::int64_t>(1, steps_in(accounts)));
  each_cost([&](auto place, auto cost) {
    Estimate& e = place(costs);
    if (accounts.empty()) {
      e.value = e.ci_low = e.ci_high = Number::missing("no timed step follows another one of its epoch");
      return;
    }
    std::transform(accounts.begin(), accounts.end(), values.begin(),
                   [&](const StepAccount& step) { return cost(step.ranks[typical]) * per_step; });
    const auto mean = stats::mean_interval(values);
    e = {mean.value, Number::missing(mean.reason), Number::missing(mean.reason), mean.confidence,
         "batch_means"};
    if (mean.ci) e.ci_low = mean.ci->low, e.ci_high = mean.ci->high;
  });
  costs.own_sd_ns.value = own_deviation(accounts);
  return costs;
}

void set_transfers(std::vector<BucketFigures>& buckets, const std::vector<StepAccount>& accounts) {
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    std::vector<double> times;
    for (const auto& step : accounts)
      if (b < step.transfers.size()) times.push_back(step.transfers[b]);
    buckets[b].transfer_ns =
        times.empty() ? Number::missing("no end was heard of within a step") : Number(stats::median(times));
  }
}

StepCosts mean_costs(const std::vector<const StepCosts*>& all) {
  StepCosts mean = *all.back();
  each_cost([&](auto place, auto) {
    std::vector<double> values;
    for (const StepCosts* one : all)
      if (const auto& e = place(*one); e.value) values.push_back(*e.value);
    place(mean) = over_repetitions(values, place(*all.back()));
  });
  return mean;
}

std::vector<LossPart> loss_budget(const StepCosts& one, const StepCosts& base, double ideal,
                                  const BudgetHelp& help) {
  const auto grown = [&](const Estimate& of_one, const Estimate& of_base) {
    return combined({{1, &of_one}, {-ideal, &of_base}});
  };
  std::vector<LossPart> parts{
      {loss_part::kExposedCommunication, grown(one.communication_ns, base.communication_ns), {}},
      {loss_part::kStragglerWait, grown(one.straggler_wait_ns, base.straggler_wait_ns), {}},
      {loss_part::kDataWait, grown(one.own_ns[OwnPart::kDataWait], base.own_ns[OwnPart::kDataWait]), {}}};
  std::vector<Term> rest = computing(one, base, ideal);
  const auto take_out = [&](const char* name, const StepCosts& with) {
    const auto terms = computing(with, base, ideal);
    parts.push_back({name, combined(terms), {}});
    for (const Term& term : terms) rest.push_back({-term.factor, term.estimate});
  };
  if (help.base_with_ddp) take_out(loss_part::kDdpOverhead, *help.base_with_ddp);
  if (help.apart) take_out(loss_part::kContention, *help.apart);
  parts.push_back({loss_part::kUnexplained, combined(rest), {}});
  const Estimate gap = grown(one.step_ns, base.step_ns);
  for (auto& part : parts)
    part.share = gap.value && part.cost_ns.value && *gap.value > 0
                     ? Number(*part.cost_ns.value / *gap.value)
                     : Number::missing("there is no gap to the ideal");
  return parts;
}

}  // namespace paceline::result
