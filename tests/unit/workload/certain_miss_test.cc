// SPDX-License-Identifier: MIT
#include "workload/inference/certain_miss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "measure/arrivals.h"
#include "pass/capacity.h"
#include "result/figures/summarize_load.h"
#include "support/fake_clock.h"

namespace paceline::workload {
namespace {

constexpr double kServicePerS = 1000;  // of an M/M/1 server in virtual time
constexpr double kMs = 1e6;

pass::LoadSpec objective(double bound_s) {
  pass::LoadSpec load;
  load.slo_p = 0.99;
  load.slo_bound_s = bound_s;
  return load;
}

ServerPlan plan_of(std::int64_t requests, std::int64_t warmup = 0) {
  ServerPlan plan;
  plan.requests = requests;
  plan.warmup_requests = warmup;
  return plan;
}

std::vector<measure::Request> requests_of(std::int64_t from, std::int64_t count, double latency_ns,
                                          std::int64_t issue_delay_ns = 0) {
  std::vector<measure::Request> requests;
  for (std::int64_t i = 0; i < count; ++i) {
    measure::Request r;
    r.end_ns = std::llround(latency_ns);
    r.issue_delay_ns = issue_delay_ns;
    r.state = measure::RequestState::kDone;
    r.index = from + i;
    requests.push_back(r);
  }
  return requests;
}

TEST(CertainMiss, NeedsMoreLateRequestsThanAllOthersCanMakeUpFor) {
  CertainMiss miss(objective(0.005), plan_of(10'000));
  EXPECT_FALSE(miss.add(requests_of(0, 5000, 1 * kMs)));
  EXPECT_FALSE(miss.add(requests_of(5000, 100, 9 * kMs)));  // 1 % of all are allowed
  bool certain = false;
  std::int64_t late = 100;
  for (; !certain && late < 3000; ++late) certain = miss.add(requests_of(5000 + late, 1, 9 * kMs));
  EXPECT_TRUE(certain);
  EXPECT_GT(late, 101);
}

TEST(CertainMiss, LeavesOutTheWarmUpAndCountsTheLost) {
  CertainMiss miss(objective(0.005), plan_of(2000, 1000));
  EXPECT_FALSE(miss.add(requests_of(0, 1000, 9 * kMs)));
  auto lost = requests_of(1000, 1000, 0);
  for (auto& r : lost) r.state = measure::RequestState::kTimedOut;
  EXPECT_TRUE(miss.add(lost));
}

// Whether a miss proves anything must be as certain as the miss.
TEST(CertainMiss, WaitsUntilItIsClearWhetherRequestsWereIssuedLate) {
  CertainMiss miss(objective(0.005), plan_of(2000));
  auto some = requests_of(0, 1500, 9 * kMs);
  for (int i = 0; i < 16; ++i) some[static_cast<std::size_t>(i)].issue_delay_ns = 60'000;  // more than 1 %
  EXPECT_FALSE(miss.add(some));  // but not of all 2000
  EXPECT_TRUE(miss.add(requests_of(1500, 200, 9 * kMs, 60'000)));
  CertainMiss clear(objective(0.005), plan_of(2000));
  some[15].issue_delay_ns = 0;
  EXPECT_TRUE(clear.add(some));
}

struct Run {
  pass::TrialOutcome outcome;
  std::int64_t sent = 0;
};

// One trial of the server; `early`: it may end before its last request.
Run run_trial(double bound_s, const pass::TrialRun& trial, bool early) {
  const auto load = objective(bound_s);
  const auto plan = plan_of(trial.counted);
  measure::OpenLoopConfig config;
  config.arrivals_ns =
      measure::schedule_arrivals(measure::ArrivalKind::kPoisson, trial.rate_per_s, trial.counted, trial.seed);
  CertainMiss miss(load, plan);
  const CounterRng random(trial.seed, 17);
  const support::FakeClock clock;
  measure::OpenLoop loop(config, clock.now_ns());
  std::uint64_t served = 0;
  while (loop.serve(clock, [&](std::span<measure::Request>) {
    clock.advance(std::llround(-std::log1p(-random.uniform(served++)) * 1e9 / kServicePerS));
  }))
    if (early && served % 50 == 0 && miss.add(loop.collect())) loop.stop();
  const auto requests = loop.take_requests();
  pass::PassSpec spec;
  spec.inference.load = load;
  result::Load judged = server_load(spec, plan);
  judged.saturation_per_s = kServicePerS;
  judged.offered_per_s = trial.rate_per_s;
  judged.slo->unsent = unsent_requests(plan, requests);
  const auto samples = server_samples(spec, plan, requests);
  result::summarize_load(judged, Scenario::kServer, samples);
  return {{*judged.slo, result::issued_late(judged)}, std::ssize(samples)};
}

TEST(CertainMiss, NeverEndsATrialThatWouldHaveMet) {
  int ended = 0;
  for (const double rate : {100.0, 300.0, 500.0, 600.0, 800.0})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const pass::TrialRun trial{rate, 5000, seed};
      const auto whole = run_trial(0.008, trial, false), cut = run_trial(0.008, trial, true);
      EXPECT_EQ(whole.sent, 5000);
      if (cut.sent == whole.sent) continue;
      ++ended;
      EXPECT_EQ(cut.outcome.slo.unsent, 5000 - cut.sent);
      EXPECT_GT(whole.outcome.slo.over, 50) << rate;
      EXPECT_GE(whole.outcome.slo.over, cut.outcome.slo.over);
      EXPECT_NE(cut.outcome.slo.detail.find("were not sent, since more than 1 % were over"),
                std::string::npos);
    }
  EXPECT_GT(ended, 15);
}

TEST(CertainMiss, ASearchFindsTheSameWithFewerRequests) {
  for (const double bound_s : {0.008, 0.02}) {
    const pass::CapacityLimits limits{kServicePerS, 0.99, 3'000'000, 1e6};
    const auto search = [&](bool early, std::int64_t& sent) {
      return pass::search_capacity(limits, [&](const pass::TrialRun& trial) {
        const auto run = run_trial(bound_s, trial, early);
        sent += run.sent;
        return run.outcome;
      });
    };
    std::int64_t all = 0, fewer = 0;
    const auto whole = search(false, all), cut = search(true, fewer);
    ASSERT_TRUE(whole.per_s);
    EXPECT_EQ(*cut.per_s, *whole.per_s);
    EXPECT_EQ(cut.missed_per_s.value(), whole.missed_per_s.value());
    EXPECT_EQ(cut.stopped, whole.stopped);
    ASSERT_EQ(cut.trials.size(), whole.trials.size());
    std::int64_t unsent = 0;
    for (std::size_t i = 0; i < cut.trials.size(); ++i) {
      EXPECT_EQ(cut.trials[i].rate_per_s, whole.trials[i].rate_per_s);
      EXPECT_EQ(cut.trials[i].requests, whole.trials[i].requests);
      EXPECT_EQ(cut.trials[i].stopped_early.empty(), cut.trials[i].unsent == 0);
      unsent += cut.trials[i].unsent;
    }
    EXPECT_EQ(all - fewer, unsent);
    EXPECT_GT(unsent, 0);
  }
}

}  // namespace
}  // namespace paceline::workload
