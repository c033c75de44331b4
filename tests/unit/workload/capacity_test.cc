// SPDX-License-Identifier: MIT
#include "workload/inference/capacity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/random.h"
#include "measure/arrivals.h"
#include "measure/open_loop.h"
#include "result/summarize_load.h"
#include "support/fake_clock.h"

namespace paceline::workload {
namespace {

constexpr double kServicePerS = 1000;  // of an M/M/1 server in virtual time

struct Server {
  double bound_s;
  std::set<std::uint64_t> seeds{};
  std::int64_t issued = 0;

  result::SloResult operator()(const TrialRun& run) {
    seeds.insert(run.seed);
    issued += run.counted;
    measure::OpenLoopConfig config;
    config.arrivals_ns =
        measure::schedule_arrivals(measure::ArrivalKind::kPoisson, run.rate_per_s, run.counted, run.seed);
    const CounterRng random(run.seed, 17);
    std::uint64_t served = 0;
    const support::FakeClock clock;
    measure::OpenLoop loop(config, clock.now_ns());
    while (loop.serve(clock, [&](std::span<measure::Request>) {
      clock.advance(std::llround(-std::log1p(-random.uniform(served++)) * 1e9 / kServicePerS));
    })) {
    }
    return judge(run, loop.take_requests());
  }

  [[nodiscard]] result::SloResult judge(const TrialRun& run,
                                        const std::vector<measure::Request>& requests) const {
    std::vector<result::Sample> samples;
    for (const auto& request : requests) {
      result::Sample s;
      s.start_ns = request.scheduled_ns;
      s.host_ns = request.latency_ns();
      samples.push_back(s);
    }
    result::Load load;
    load.saturation_per_s = kServicePerS;
    load.offered_per_s = run.rate_per_s;
    result::SloResult slo;
    slo.bound_ns = bound_s * 1e9;
    load.slo = {slo};
    result::summarize_load(load, "server", samples);
    return load.slo.front();
  }
};

CapacityLimits limits(std::int64_t max_requests = 3'000'000) {
  return {kServicePerS, 0.99, max_requests, 1e6};
}

// P(sojourn > t) = exp(-(mu - lambda) t): p99 is at the bound for lambda = mu - ln(100) / t.
double true_capacity(double bound_s) {
  return kServicePerS - std::log(100) / bound_s;
}

TEST(Capacity, OfAnMM1ServerIsTheClosedForm) {
  for (const double bound_s : {0.008, 0.02}) {
    Server server{bound_s};
    const auto found = search_capacity(limits(), std::ref(server));
    ASSERT_TRUE(found.per_s) << found.per_s.reason();
    EXPECT_LT(*found.per_s, true_capacity(bound_s) * 1.01);
    EXPECT_GT(*found.per_s, true_capacity(bound_s) * 0.80);
    ASSERT_GE(found.trials.size(), 3U);
    for (auto it = found.trials.end() - 3; it != found.trials.end(); ++it) {
      EXPECT_TRUE(it->long_run);
      EXPECT_EQ(it->verdict, "met");
      EXPECT_DOUBLE_EQ(it->rate_per_s, *found.per_s);
    }
    EXPECT_EQ(server.seeds.size(), found.trials.size());
  }
}

TEST(Capacity, NoRateHoldsABoundBelowTheServiceTime) {
  Server server{0.001};  // 37 % of the services alone take longer
  const auto found = search_capacity(limits(), std::ref(server));
  EXPECT_FALSE(found.per_s);
  EXPECT_NE(found.per_s.reason().find("no rate above 1 %"), std::string::npos) << found.per_s.reason();
}

TEST(Capacity, StaysWithinItsRequests) {
  Server server{0.1};
  const auto found = search_capacity(limits(150'000), std::ref(server));
  EXPECT_LE(server.issued, 150'000);
  ASSERT_TRUE(found.per_s);
  EXPECT_LT(*found.per_s, true_capacity(0.1) * 0.9);  // capped, far below what a longer search would find
  Server poor{0.1};
  const auto none = search_capacity(limits(1000), std::ref(poor));
  EXPECT_FALSE(none.per_s);
  EXPECT_EQ(poor.issued, 0);
  EXPECT_NE(none.per_s.reason().find("server.max_requests"), std::string::npos);
}

TEST(Capacity, ARunThatWouldTakeTooLongIsNotStarted) {
  Server server{0.02};
  auto slow = limits();
  slow.t_max_s = 1;
  const auto found = search_capacity(slow, std::ref(server));
  EXPECT_FALSE(found.per_s);
  EXPECT_NE(found.per_s.reason().find("server.t_max_s"), std::string::npos);
}

TEST(Capacity, TheCostIsSaidBeforehand) {
  EXPECT_EQ(
      cost_in_words(limits(200'000)),
      "capacity search: at most 200000 requests; at half of 1000/s the 3 long runs alone take 1 m 47 s");
}

}  // namespace
}  // namespace paceline::workload
