// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "result/figures/aligned_steps.h"
#include "result/stored/training.h"
#include "stats/quantile.h"

// Where the time of a training step went, all ranks together (methodology: multi-rank aggregation). Ranks
// need no common clock: all-reduces end on all ranks together, so the end of one step's gradient exchange is
// the point from which every rank's next step is timed.
namespace paceline::result {

// One rank in one step, in ns.
struct RankAccount {
  PerPart<OwnPart, double> own{};
  double straggler_wait = 0;  // for ranks that were not ready, by work of their own
  double communication = 0;   // the rest of it: transfers, and waiting for what they made late
  [[nodiscard]] double own_sum() const { return own.sum(); }
  [[nodiscard]] double sum() const { return own_sum() + straggler_wait + communication; }
};

// From the end of one exchange of gradients to the end of the next, in ns. With gradient accumulation that is
// a stretch of several steps; where no step exchanges anything, each step has an account of its own.
struct StepAccount {
  std::int64_t step = 0;                 // the one that ends with the exchange
  std::int64_t steps = 1;                // in the stretch
  std::vector<RankAccount> ranks;        // in the order of the tables
  std::vector<double> transfers;         // of each bucket, in ns; empty where an end was not heard of
  std::optional<std::size_t> last = {};  // index of the rank that waited least; none where ranks are level
  double delay = 0;  // how much sooner the exchange would have begun had `last` been as early as the next one
};

// Waits that differ by less than this share of the stretch are level.
inline constexpr double kLevelShare = 0.001;

// The accounts of timed steps that follow another step of the same epoch. `steps` as from aligned().
std::vector<StepAccount> accounts_of(const std::vector<StepAcross>& steps);

// Median of a figure over all ranks but one. At least two ranks.
template <typename Get>
double median_of_others(const StepAccount& step, std::size_t rank, Get get) {
  std::vector<double> others;
  for (std::size_t r = 0; r < step.ranks.size(); ++r)
    if (r != rank) others.push_back(get(step.ranks[r]));
  return stats::median(others);
}

// Index of the rank whose own time, over all steps, is the median of the ranks (the lower of two): what it
// waits for the others is what they cost.
std::size_t typical_rank(const std::vector<StepAccount>& accounts);

// Means per step of what the typical rank spent, with intervals from batch means.
StepCosts costs_of(const std::vector<StepAccount>& accounts);

// Median time of exchanging each bucket, into `buckets`.
void set_transfers(std::vector<BucketFigures>& buckets, const std::vector<StepAccount>& accounts);

// Mean over repetitions; with two and more of them the interval is Student's t over repetitions.
StepCosts mean_costs(const std::vector<const StepCosts*>& all);

// Measurements besides the case and its base; null: not measured.
struct BudgetHelp {
  const StepCosts* base_with_ddp = nullptr;  // the base exchanges no gradients, and this is the same with DDP
  const StepCosts* apart = nullptr;          // as many ranks without DDP: independent processes side by side
};

// Where the time comes from that a mean step of `one` takes beyond the ideal: `ideal` times a step of `base`
// (1 for weak scaling). The parts add up to the difference of the steps.
std::vector<LossPart> loss_budget(const StepCosts& one, const StepCosts& base, double ideal,
                                  const BudgetHelp& help = {});

}  // namespace paceline::result
