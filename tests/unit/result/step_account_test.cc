// SPDX-License-Identifier: MIT
#include "result/figures/step_account.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "result/figures/late_pattern.h"
#include "result/figures/late_rank.h"
#include "result/figures/summarize_training.h"
#include "support/simulated_training.h"

namespace paceline::result {
namespace {

using testing::simulate;
using testing::SimulatedDelay;
using testing::SimulatedTraining;

Training summarized(const testing::SimulatedRun& run) {
  Training t;
  t.ddp = run.ranks.size() > 1;
  summarize_training(t, run.ranks, 8);
  return t;
}

double ms(const Estimate& e) {
  return *e.value * 1e-6;
}

// Small gradients over a slow link, a late rank and slow loaders at once.
SimulatedTraining all_costs() {
  return {.gb_per_s = 0.4,
          .delays = {{.rank = 2, .where = OwnPart::kBackward, .ms = 18},
                     {.rank = -1, .where = OwnPart::kDataWait, .ms = 7}}};
}

TEST(StepAccount, EveryCostIsWhatTheSimulationPutIn) {
  const auto run = simulate(all_costs());
  const auto costs = summarized(run).costs;
  const auto& truth = run.truth;
  ASSERT_GT(truth.communication_ms, 2);
  ASSERT_GT(truth.straggler_wait_ms, 5);
  EXPECT_NEAR(ms(costs.communication_ns), truth.communication_ms, 0.01 * truth.communication_ms);
  EXPECT_NEAR(ms(costs.straggler_wait_ns), truth.straggler_wait_ms, 0.02 * truth.straggler_wait_ms);
  EXPECT_NEAR(ms(costs.own_ns[OwnPart::kDataWait]), truth.data_wait_ms, 0.01 * truth.data_wait_ms);
}

TEST(StepAccount, CostsAddUpToTheStepLessThePauseThatAllRanksMake) {
  const auto run = simulate(all_costs());
  const auto c = summarized(run).costs;
  double sum = ms(c.straggler_wait_ns) + ms(c.communication_ns);
  for (const auto& own : c.own_ns.values) sum += ms(own);
  EXPECT_NEAR(sum, ms(c.step_ns), 1e-9);
  EXPECT_NEAR(ms(c.step_ns) + 0.2, run.truth.step_ms, 0.02);
}

TEST(StepAccount, WaitingForALateRankIsNotCommunication) {
  for (const double buffers_ms : {0.0, 0.3})
    for (const auto where :
         {OwnPart::kDataWait, OwnPart::kHost, OwnPart::kForward, OwnPart::kBackward, OwnPart::kPause}) {
      const SimulatedTraining on_time{.ranks = 2, .jitter = 0, .buffers_ms = buffers_ms};
      SimulatedTraining late = on_time;
      late.delays = {{.rank = 0, .where = where, .ms = 25}};
      const auto without = summarized(simulate(on_time)).costs, with = summarized(simulate(late)).costs;
      // The rank that is typical may be the one that rank 0 sends its buffers to, or not.
      EXPECT_NEAR(ms(with.communication_ns), ms(without.communication_ns), buffers_ms + 0.01);
      EXPECT_NEAR(ms(with.straggler_wait_ns), 25, buffers_ms + 0.15);
    }
}

TEST(StepAccount, ASenderThatWaitsForALateReceiverDoesNotCommunicate) {
  for (const std::int64_t ranks : {2, 4}) {
    const SimulatedTraining on_time{.ranks = ranks, .jitter = 0, .buffers_ms = 0.3, .sender_waits = true};
    SimulatedTraining late = on_time;
    late.delays = {{.rank = 1, .where = OwnPart::kHost, .ms = 25}};
    const auto without = summarized(simulate(on_time)).costs, with = summarized(simulate(late)).costs;
    EXPECT_NEAR(ms(with.communication_ns), ms(without.communication_ns), 0.31);
    EXPECT_NEAR(ms(with.straggler_wait_ns), 25, 0.45);
    const auto found = summarized(simulate(late)).late;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().rank, 1);
    EXPECT_EQ(found.front().late_in, "host");
  }
}

TEST(StepAccount, AFixedExampleByHand) {
  // Rank 1 is ready at 50, rank 0 at 40; the exchange ends at 58 on both.
  const auto row = [](std::int64_t step, std::int64_t ready) {
    StepRow r;
    r.step = step;
    r.start_ns = step * 60;
    r.ns[StepPart::kDataWait] = 4, r.ns[StepPart::kInput] = 1, r.ns[StepPart::kForward] = 15,
    r.ns[StepPart::kBackward] = ready - 20;
    r.ns[StepPart::kExposed] = 58 - ready, r.ns[StepPart::kOptimizer] = 2, r.step_ns = 60;
    r.buckets = {{1, ready - 10, 52}, {1, ready, 58}};
    return r;
  };
  std::vector<RankSteps> ranks(2);
  ranks[1].rank.rank = 1;
  for (std::int64_t s = 0; s < 3; ++s)
    ranks[0].rows.push_back(row(s, 40)), ranks[1].rows.push_back(row(s, 50));
  const auto accounts = accounts_of(aligned(ranks));
  ASSERT_EQ(accounts.size(), 2U);
  EXPECT_DOUBLE_EQ(accounts[0].ranks[0].straggler_wait, 10);
  EXPECT_DOUBLE_EQ(accounts[0].ranks[1].straggler_wait, 0);
  EXPECT_DOUBLE_EQ(accounts[0].ranks[0].communication, 8);
  EXPECT_DOUBLE_EQ(accounts[0].ranks[1].sum(), 60);
  EXPECT_EQ(typical_rank(accounts), 0U);
  EXPECT_EQ(accounts[0].last, 1U);
  EXPECT_DOUBLE_EQ(accounts[0].delay, 10);
}

TEST(StepAccount, BuffersThatReachARankLateMakeItNoLateRank) {
  // Both ranks compute for 40. Rank 1 gets rank 0's buffers 6 later, and rank 0 waits for it in the exchange.
  const auto row = [](std::int64_t step, std::int64_t buffers) {
    StepRow r;
    r.step = step;
    r.start_ns = step * 60;
    r.ns[StepPart::kDataWait] = 4, r.ns[StepPart::kInput] = 1, r.ns[StepPart::kForward] = 15,
    r.ns[StepPart::kBackward] = 20;
    r.ns[StepPart::kExposed] = 18, r.ns[StepPart::kOptimizer] = 2, r.step_ns = 60;
    r.buckets = {{1, 40 + buffers, 58}};
    return r;
  };
  std::vector<RankSteps> ranks(2);
  ranks[1].rank.rank = 1;
  for (std::int64_t s = 0; s < 3; ++s) ranks[0].rows.push_back(row(s, 0)), ranks[1].rows.push_back(row(s, 6));
  const auto accounts = accounts_of(aligned(ranks));
  ASSERT_EQ(accounts.size(), 2U);
  for (const auto& rank : accounts[0].ranks) {
    EXPECT_DOUBLE_EQ(rank.straggler_wait, 0);
    EXPECT_DOUBLE_EQ(rank.communication, 18);
  }
}

// Rank 1 works 60 before its forward pass asks for rank 0's buffers, in a part of the step that is timed as
// forward; rank 0 waits there for its receiver, or starts early and waits in the exchange of gradients.
TEST(StepAccount, CommunicationIsNeverMoreThanThatOfTheLeastExposedRank) {
  struct Wait {
    std::int64_t for_buffers, in_exchange;
  };
  for (const auto& wait : {Wait{60, 0}, Wait{0, 60}, Wait{25, 35}}) {
    std::vector<RankSteps> ranks(2);
    ranks[1].rank.rank = 1;
    for (std::int64_t s = 0; s < 3; ++s)
      for (std::int64_t rank = 0; rank < 2; ++rank) {
        StepRow r;
        r.step = s, r.start_ns = s * 120, r.step_ns = 120;
        r.ns[StepPart::kDataWait] = 4, r.ns[StepPart::kInput] = 1, r.ns[StepPart::kBackward] = 20;
        r.ns[StepPart::kForward] = 15 + (rank == 1 ? 60 : 0), r.ns[StepPart::kOptimizer] = 2;
        r.ns[StepPart::kExposed] = 18 + (rank == 0 ? 60 : 0);
        r.buckets = {{1, 100 - (rank == 0 ? wait.in_exchange : 0), 118}};
        ranks[static_cast<std::size_t>(rank)].rows.push_back(r);
      }
    const auto accounts = accounts_of(aligned(ranks));
    ASSERT_EQ(accounts.size(), 2U);
    for (const auto& rank : accounts[0].ranks) EXPECT_DOUBLE_EQ(rank.communication, 18) << wait.for_buffers;
    EXPECT_DOUBLE_EQ(accounts[0].ranks[0].straggler_wait, 60);
    EXPECT_EQ(accounts[0].last, 1U);
  }
}

// Two of three steps of a stretch exchange no gradients, but buffers: rank 1 is late for each of them.
TEST(StepAccount, WaitingInAStepWithoutAnExchangeOfGradientsIsNoCommunication) {
  std::vector<RankSteps> ranks(2);
  ranks[1].rank.rank = 1;
  for (std::int64_t s = 0; s < 7; ++s)
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      StepRow r;
      const bool exchanges = s % 3 == 0;
      r.step = s, r.start_ns = s * 100, r.step_ns = 100;
      r.ns[StepPart::kDataWait] = rank == 1 ? 60 : 10;
      r.ns[StepPart::kExposed] = rank == 1 ? 5 : 55;
      r.ns[StepPart::kForward] = 35;
      if (exchanges) r.buckets = {{1, 95, 100}};
      ranks[static_cast<std::size_t>(rank)].rows.push_back(r);
    }
  const auto accounts = accounts_of(aligned(ranks));
  ASSERT_EQ(accounts.size(), 2U);
  EXPECT_EQ(accounts[0].steps, 3);
  EXPECT_DOUBLE_EQ(accounts[0].ranks[0].communication, 15);
  EXPECT_DOUBLE_EQ(accounts[0].ranks[0].straggler_wait, 150);
  EXPECT_DOUBLE_EQ(accounts[0].ranks[1].communication, 15);
}

TEST(StepAccount, StepsAcrossAGapOrAnEpochAreLeftOut) {
  auto run = simulate({.ranks = 2, .steps = 12});
  for (auto& table : run.ranks) {
    table.rows.erase(table.rows.begin() + 8);
    for (auto& row : table.rows) row.epoch = row.step >= 10 ? 1 : 0;
  }
  std::vector<std::int64_t> steps;
  for (const auto& account : accounts_of(aligned(run.ranks))) steps.push_back(account.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{4, 5, 6, 7, 11}));
}

TEST(StepAccount, WithoutStepsThereAreReasonsAndNoFigures) {
  const auto costs = costs_of({});
  EXPECT_FALSE(costs.step_ns.value);
  EXPECT_EQ(costs.step_ns.value.reason(), "no timed step follows another one of its epoch");
}

TEST(LateRank, IsNamedWithItsPartItsCostAndWhenItBegan) {
  const auto run = simulate({.steps = 84, .delays = {{.rank = 3, .ms = 12, .from_step = 40}}});
  const auto late = summarized(run).late;
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].rank, 3);
  EXPECT_EQ(late[0].late_in, "backward");
  EXPECT_EQ(late[0].first_step, 4);
  EXPECT_NEAR(static_cast<double>(late[0].since_step), 40, 1);
  EXPECT_LT(*late[0].chance, 0.01);
  EXPECT_NEAR(*late[0].cost_ns * 1e-6, 12 * 44 / 80.0, 0.8);
}

// The scheduler may favour one of them for a while.
TEST(LateRank, OnSharedCpusIsSuspectedUntilSecondsHavePassed) {
  const auto late_by = [](double ms, std::int64_t steps, bool shared) {
    auto run = testing::simulate({.steps = steps, .delays = {{.rank = 2, .ms = ms}}});
    for (auto& table : run.ranks) table.rank.shares_cpus = shared;
    return summarized(run);
  };
  const auto brief = late_by(18, 24, true);
  EXPECT_TRUE(brief.late.empty());
  ASSERT_EQ(brief.suspected.size(), 1U);
  EXPECT_TRUE(is_favour(brief.suspected.front()));
  EXPECT_NEAR(static_cast<double>(steps_for_certainty(brief.suspected.front(), 4, 100e6)), 37.5, 1);
  EXPECT_EQ(late_by(18, 24, false).late.size(), 1U);
  EXPECT_EQ(late_by(18, 60, true).late.size(), 1U);
  EXPECT_EQ(late_by(70, 24, true).late.size(), 1U);
}

// Two ranks; rank 1 is later than rank 0, which takes 50 ms, by these times.
std::vector<LateRank> named_by(const std::vector<double>& late_ms) {
  std::vector<StepAccount> steps;
  for (const double ms : late_ms) {
    auto& step = steps.emplace_back();
    step.step = std::ssize(steps);
    step.ranks.resize(2);
    step.ranks[0].own[OwnPart::kForward] = 50e6, step.ranks[1].own[OwnPart::kForward] = (50 + ms) * 1e6;
    step.ranks[0].straggler_wait = std::max(0.0, ms) * 1e6,
    step.ranks[1].straggler_wait = std::max(0.0, -ms) * 1e6;
    step.last = ms > 0 ? 1 : 0, step.delay = std::abs(ms) * 1e6;
  }
  std::vector<RankFigures> ranks(2);
  ranks[1].rank = 1;
  return late_rank_of(steps, ranks);
}

// Evenly from 3 ms earlier to 9 ms later: 3 ms later on average, while rank 0 waits 9 * 9 / 2 / 12 = 3.4 ms.
TEST(LateRank, CostsNoMoreThanItIsLateOnAverage) {
  std::vector<double> late_ms;
  for (int i = 0; i < 100; ++i) late_ms.push_back(-3 + 0.12 * (i * 37 % 100 + 0.5));
  const auto late = named_by(late_ms);
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].rank, 1);
  EXPECT_NEAR(*late[0].mean_late_ns, 3e6, 1);
  EXPECT_NEAR(*late[0].cost_ns, 3e6, 1);
}

// The typical one of three ranks waits for the last one, which is no later than half of that.
TEST(LateRank, CostsInNoExchangeMoreThanItWasLate) {
  std::vector<StepAccount> steps(40);
  for (auto& step : steps) {
    step.step = 1 + (&step - steps.data());
    step.ranks.resize(3);
    const double own_ms[] = {50, 50, 54};
    for (std::size_t r = 0; r < 3; ++r) step.ranks[r].own[OwnPart::kForward] = own_ms[r] * 1e6;
    step.ranks[0].straggler_wait = step.ranks[1].straggler_wait = 8e6;
    step.last = 2, step.delay = 8e6;
  }
  std::vector<RankFigures> ranks(3);
  ranks[2].rank = 2;
  const auto late = late_rank_of(steps, ranks);
  ASSERT_EQ(late.size(), 1U);
  EXPECT_NEAR(*late[0].cost_ns, 4e6, 1);
}

TEST(LateRank, NobodyWaitsForRanksThatExchangeNothing) {
  Training t;
  const SimulatedTraining late{.ranks = 2, .delays = {{.rank = 0, .where = OwnPart::kHost, .ms = 25}}};
  summarize_training(t, simulate(late).ranks, 8);
  EXPECT_TRUE(t.late.empty());
  EXPECT_FALSE(t.straggler_rank);
  t.ddp = true;
  summarize_training(t, simulate(late).ranks, 8);
  EXPECT_EQ(t.late.size(), 1U);
}

TEST(LateRank, ThatWasAlwaysLateIsLateFromTheFirstStep) {
  const auto late = summarized(simulate({.delays = {{.rank = 1, .where = OwnPart::kForward, .ms = 6}}})).late;
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].since_step, late[0].first_step);
  EXPECT_NEAR(*late[0].late_ns * 1e-6, 6, 0.6);
}

// Late by 6 ms in all exchanges but the first four, of which it is late in one.
TEST(LateRank, ThatIsNotLateAtFirstIsNotSaidToBeSo) {
  std::vector<double> late_ms(12, 6), at_once = late_ms;
  late_ms[0] = late_ms[1] = late_ms[3] = -1;
  const auto later = named_by(late_ms), first = named_by(at_once);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(first[0].begins_late);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_FALSE(later[0].begins_late);
}

// A rank that came last counts, even if its own time is shorter than the median of the others.
TEST(LateRank, ChanceIsOfAllExchangesThatItWasLastIn) {
  const auto chance = [](double own_ms) {
    std::vector<StepAccount> steps(24);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].ranks.resize(2), steps[i].last = i % 8 == 7 ? 0 : 1;
      steps[i].ranks[0].own[OwnPart::kForward] = 50e6,
      steps[i].ranks[1].own[OwnPart::kForward] = own_ms * 1e6;
    }
    return late_pattern(steps, last_ranks(steps), 1).chance;
  };
  EXPECT_LT(chance(50), 0.01);
  EXPECT_DOUBLE_EQ(chance(49), chance(50));
}

// Two ranks whose own times drift apart and together again, as under neighbours that come and go.
std::vector<StepAccount> disturbed_steps(std::uint64_t seed, double memory) {
  constexpr std::size_t kSteps = 60;
  constexpr double kOwnNs = 12e6, kNoiseNs = 4e6;
  const CounterRng random(seed, 11);
  std::vector<StepAccount> steps(kSteps);
  for (auto& step : steps) step.ranks.resize(2);
  for (std::size_t r = 0; r < 2; ++r) {
    double drift = 0;
    for (std::size_t i = 0; i < kSteps; ++i) {
      drift = memory * drift + std::sqrt(1 - memory * memory) * (random.uniform(i * 2 + r) - 0.5);
      steps[i].step = static_cast<std::int64_t>(i);
      steps[i].ranks[r].own[OwnPart::kOptimizer] = kOwnNs + kNoiseNs * drift;
    }
  }
  for (auto& step : steps) step.last = step.ranks[1].own_sum() > step.ranks[0].own_sum() ? 1 : 0;
  return steps;
}

// A second of steps tells a long disturbance of one rank from a late rank only so far; repetitions tell more.
TEST(LateRank, StepsDisturbedTogetherSeldomNameARank) {
  struct Noise {
    double memory, most_accused;
  };
  for (const auto& [memory, most] : {Noise{0, 0.01}, Noise{0.5, 0.03}, Noise{0.8, 0.1}}) {
    int suspected = 0;
    constexpr int kRuns = 1000;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed)
      suspected += late_rank_of(disturbed_steps(seed, memory), std::vector<RankFigures>(2)).empty() ? 0 : 1;
    EXPECT_LE(suspected, most * kRuns) << memory;
  }
}

const LossPart& part_of(const std::vector<LossPart>& budget, const std::string& name) {
  for (const auto& part : budget)
    if (part.name == name) return part;
  throw Error(ErrorCode::kData, "no part " + name);
}

TEST(LossBudget, RecoversLinkStragglerAndLoaderAndLeavesNothingUnexplained) {
  const auto four = simulate(all_costs());
  const auto one = simulate({.ranks = 1});
  const auto budget = loss_budget(summarized(four).costs, summarized(one).costs, 1);
  const double gap = four.truth.step_ms - one.truth.step_ms;
  double sum = 0;
  for (const auto& part : budget) sum += ms(part.cost_ns);
  EXPECT_NEAR(sum, gap, 0.02 * gap);
  const auto near_truth = [&](const char* name, double truth) {
    EXPECT_NEAR(ms(part_of(budget, name).cost_ns), truth, 0.15 * truth) << name;
  };
  near_truth("exposed_communication", four.truth.communication_ms);
  near_truth("straggler_wait", four.truth.straggler_wait_ms);
  near_truth("data_wait", 7);
  EXPECT_LE(std::abs(*part_of(budget, "unexplained").share), 0.05);
}

TEST(LossBudget, ContentionAndDdpComeFromWhatWasMeasuredApart) {
  const auto costs = [](const SimulatedTraining& w) { return summarized(simulate(w)).costs; };
  const auto base = costs({.ranks = 1});
  const auto with_ddp = costs({.ranks = 1, .backward_ms = 62, .seed = 2});
  const auto apart = costs({.ranks = 1, .forward_ms = 34, .backward_ms = 66, .seed = 3});
  const auto two = costs({.ranks = 2, .forward_ms = 34, .backward_ms = 68, .seed = 4});
  const auto budget = loss_budget(two, base, 1, {&with_ddp, &apart});
  EXPECT_NEAR(ms(part_of(budget, "ddp_overhead").cost_ns), 2, 0.6);
  EXPECT_NEAR(ms(part_of(budget, "contention").cost_ns), 10, 0.8);
  const auto& open = part_of(budget, "unexplained").cost_ns;
  EXPECT_NEAR(ms(open), 0, 0.8);
  EXPECT_LT(*open.ci_low, *open.value);
  EXPECT_GT(*open.ci_high, *open.value);
}

TEST(LossBudget, ABaseWithoutFiguresGivesReasons) {
  const auto costs = summarized(simulate({})).costs;
  for (const auto& part : loss_budget(costs, costs_of({}), 1)) {
    EXPECT_FALSE(part.cost_ns.value) << part.name;
    EXPECT_FALSE(part.share) << part.name;
  }
}

}  // namespace
}  // namespace paceline::result
