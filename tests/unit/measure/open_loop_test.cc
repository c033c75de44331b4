// SPDX-License-Identifier: MIT
#include "measure/open_loop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "measure/arrivals.h"
#include "measure/closed_loop.h"
#include "stats/quantile.h"
#include "stats/queueing.h"
#include "support/fake_clock.h"
#include "support/times.h"

// The open loop in virtual time against what queueing theory and the methodology say.
namespace paceline::measure {
namespace {

using support::FakeClock;
using test::kMs;
using test::kS;

TEST(Arrivals, TheSameSeedGivesTheSameSchedule) {
  const auto one = schedule_arrivals(ArrivalKind::kPoisson, 100, 1000, 7);
  EXPECT_EQ(one, schedule_arrivals(ArrivalKind::kPoisson, 100, 1000, 7));
  EXPECT_NE(one, schedule_arrivals(ArrivalKind::kPoisson, 100, 1000, 8));
  EXPECT_TRUE(std::is_sorted(one.begin(), one.end()));
}

TEST(Arrivals, HaveTheRateAndTheSpreadOfAPoissonProcess) {
  const auto times = schedule_arrivals(ArrivalKind::kPoisson, 100, 100'000, 1);
  EXPECT_NEAR(static_cast<double>(times.back()) / 1e9, 1000, 10);
  double sum = 0, squares = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double gap = static_cast<double>(times[i] - times[i - 1]) / 1e7;  // in mean gaps
    sum += gap;
    squares += gap * gap;
  }
  EXPECT_NEAR(squares / sum, 2, 0.05);  // E[g^2] / E[g] of an exponential with mean 1
}

TEST(Arrivals, ConstantOnesAreEvenlySpaced) {
  EXPECT_EQ(schedule_arrivals(ArrivalKind::kConstant, 1000, 3, 1),
            (std::vector<std::int64_t>{kMs, 2 * kMs, 3 * kMs}));
}

// Runs a schedule on one virtual lane; body(clock) takes the time of a service.
template <class Service>
std::vector<Request> run_virtual(const OpenLoopConfig& config, Service service,
                                 const FakeClock& clock = FakeClock{}) {
  OpenLoop loop(config, clock.now_ns());
  while (loop.serve(clock, [&](std::span<Request>) { service(clock); })) {
  }
  return loop.take_requests();
}

OpenLoopConfig poisson(double rate, std::int64_t n, std::uint64_t seed) {
  OpenLoopConfig config;
  config.arrivals_ns = schedule_arrivals(ArrivalKind::kPoisson, rate, n, seed);
  return config;
}

// Latencies in seconds after the first tenth.
std::vector<double> latencies(const std::vector<Request>& requests) {
  std::vector<double> x;
  for (std::size_t i = requests.size() / 10; i < requests.size(); ++i)
    x.push_back(static_cast<double>(requests[i].latency_ns()) * 1e-9);
  return x;
}

// 1 ms of service; from every full 10 s on, the server stands still for 1 s.
void stalling_service(const FakeClock& clock) {
  const auto into = [&] { return clock.now_ns() % (10 * kS); };
  if (into() < kS) clock.advance(kS - into());
  clock.advance(kMs);
}

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

TEST(CoordinatedOmission, TheOpenLoopSeesTheStall) {
  std::vector<double> p50, p90, p99;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const FakeClock clock;
    clock.advance(kS);  // begin beside a stall, not in one
    std::vector<double> x;
    for (const auto& r : run_virtual(poisson(100, 100'000, seed), stalling_service, clock))
      x.push_back(static_cast<double>(r.latency_ns()) * 1e-9);
    const auto sorted = stats::sorted_copy(x);
    p50.push_back(stats::quantile(sorted, stats::kPpmP50));
    p90.push_back(stats::quantile(sorted, stats::kPpmP90));
    p99.push_back(stats::quantile(sorted, stats::kPpmP99));
  }
  EXPECT_NEAR(mean_of(p50), 0.001, 0.00005);
  EXPECT_NEAR(mean_of(p90), 0.096, 0.096 * 0.10);
  EXPECT_NEAR(mean_of(p99), 0.905, 0.905 * 0.03);
}

TEST(CoordinatedOmission, TheClosedLoopHidesIt) {
  const FakeClock clock;
  clock.advance(kS);
  std::vector<Sample> samples;
  const auto end = clock.now_ns() + 1000 * kS;
  while (clock.now_ns() < end) {
    const auto start = clock.now_ns();
    stalling_service(clock);
    samples.push_back({start, clock.now_ns() - start});
  }
  const auto sorted = stats::sorted_copy(per_iteration_ns(samples, 0, 1));
  EXPECT_DOUBLE_EQ(stats::quantile(sorted, stats::kPpmP50), 1e6);
  EXPECT_DOUBLE_EQ(stats::quantile(sorted, stats::kPpmP99), 1e6);
  EXPECT_DOUBLE_EQ(stats::quantile(sorted, 999'900), 1.001e9);
}

// Exponential service with mean 1 s.
auto exponential_service(std::uint64_t seed) {
  return [random = CounterRng(seed, 99), i = std::uint64_t{0}](const FakeClock& clock) mutable {
    clock.advance(std::llround(-std::log1p(-random.uniform(i++)) * 1e9));
  };
}

// P(sojourn > t) = exp(-(mu - lambda) t)
double mm1_quantile(double p, double load) {
  return -std::log(1 - p) / (1 - load);
}

TEST(MM1, QuantilesMatchTheClosedForm) {
  for (const double load : {0.3, 0.7}) {
    const auto x = latencies(run_virtual(poisson(load, 400'000, 11), exponential_service(5)));
    const auto sorted = stats::sorted_copy(x);
    for (const auto ppm : {stats::kPpmP50, stats::kPpmP90, stats::kPpmP99})
      EXPECT_NEAR(stats::quantile(sorted, ppm) / mm1_quantile(stats::ppm_to_p(ppm), load), 1, 0.05)
          << load << " " << ppm;
  }
}

// Share of runs at the length rule whose interval holds the true quantile.
double coverage(double load, std::uint32_t ppm, std::int64_t n, int runs) {
  int covered = 0;
  for (int run = 0; run < runs; ++run) {
    const auto seed = static_cast<std::uint64_t>(1000 + run);
    const auto x = latencies(run_virtual(poisson(load, n * 10 / 9 + 1, seed), exponential_service(seed)));
    const auto q = stats::estimate_quantile(x, ppm);
    const double truth = mm1_quantile(stats::ppm_to_p(ppm), load);
    covered += q.value && *q.ci_low <= truth && truth <= *q.ci_high;
  }
  return static_cast<double>(covered) / runs;
}

TEST(MM1, IntervalsCoverAtTheLengthRule) {
  constexpr int kRuns = 60;
  const double slack = 4 * std::sqrt(0.92 * 0.08 / kRuns);
  for (const double load : {0.3, 0.5, 0.7}) {
    EXPECT_GE(coverage(load, stats::kPpmP99, *stats::required_requests(stats::kPpmP99, load), kRuns),
              0.92 - slack)
        << load;
    EXPECT_GE(coverage(load, stats::kPpmP50, *stats::required_requests(stats::kPpmP50, load), kRuns),
              0.92 - slack)
        << load;
  }
}

// The test above has teeth: a tenth of the length covers too rarely at a high load.
TEST(MM1, ShortRunsDoNotCover) {
  EXPECT_LT(coverage(0.8, stats::kPpmP99, *stats::required_requests(stats::kPpmP99, 0.8) / 50, 60), 0.85);
}

TEST(MD1, MeanMatchesTheClosedForm) {
  for (const double load : {0.5, 0.8}) {
    const auto x =
        latencies(run_virtual(poisson(load, 200'000, 21), [](const FakeClock& c) { c.advance(kS); }));
    EXPECT_NEAR(mean_of(x) / (1 + load / (2 * (1 - load))), 1, 0.03) << load;
  }
}

// c lanes, each with its own virtual time: the one that is free first takes the next request.
TEST(MMc, TwoLanesMatchErlangC) {
  constexpr double kArrivals = 1.2;  // offered load a = 1.2 erlang on two servers
  OpenLoop loop(poisson(kArrivals, 300'000, 31), 0);
  std::vector<FakeClock> clocks{FakeClock{}, FakeClock{}};
  auto service = exponential_service(8);
  for (bool more = true; more;) {
    const auto& clock = clocks[clocks[0].now_ns() <= clocks[1].now_ns() ? 0 : 1];
    more = loop.serve(clock, [&](std::span<Request>) { service(clock); });
  }
  const auto x = latencies(loop.take_requests());
  // Erlang C: P(wait) = 0.45 at a = 1.2, c = 2; mean sojourn = 1 + P(wait) / (c - a)
  EXPECT_NEAR(mean_of(x), 1 + 0.45 / 0.8, 0.05);
}

TEST(OpenLoop, LatencyCountsFromTheSchedule) {
  OpenLoopConfig config;
  config.arrivals_ns = {0, kMs, 2 * kMs};
  const auto r = run_virtual(config, [](const FakeClock& c) { c.advance(5 * kMs); });
  EXPECT_EQ(r[0].latency_ns(), 5 * kMs);
  EXPECT_EQ(r[1].latency_ns(), 9 * kMs);
  EXPECT_EQ(r[2].latency_ns(), 13 * kMs);
  EXPECT_EQ(r[2].end_ns - r[2].start_ns, 5 * kMs);
}

TEST(OpenLoop, ALateGeneratorIsSeen) {
  const FakeClock clock;
  clock.set_late(300'000);
  const auto r = run_virtual(
      poisson(10, 100, 1), [](const FakeClock& c) { c.advance(kMs); }, clock);
  std::int64_t late = 0;
  for (const auto& one : r) late += one.issue_delay_ns >= 300'000;
  EXPECT_GT(late, 90);
}

TEST(OpenLoop, RequestsThatFoundNobodyFreeHaveNoIssueDelay) {
  OpenLoopConfig config;
  config.arrivals_ns = {0, kMs};
  const auto r = run_virtual(config, [](const FakeClock& c) { c.advance(5 * kMs); });
  EXPECT_EQ(r[1].issue_delay_ns, -1);
}

TEST(OpenLoop, TimedOutRequestsAreNotServed) {
  OpenLoopConfig config;
  config.arrivals_ns = {0, kMs, 20 * kMs};
  config.timeout_ns = 2 * kMs;
  int served = 0;
  const auto r = run_virtual(config, [&](const FakeClock& c) { ++served, c.advance(10 * kMs); });
  EXPECT_EQ(served, 2);
  EXPECT_EQ(r[1].state, RequestState::kTimedOut);
  EXPECT_EQ(r[2].state, RequestState::kDone);
}

TEST(OpenLoop, RequestsLeftAfterTheDrainAreUnfinished) {
  OpenLoopConfig config;
  config.arrivals_ns = {0, 1, 2, 3};
  config.drain_ns = 25 * kMs;
  const auto r = run_virtual(config, [](const FakeClock& c) { c.advance(10 * kMs); });
  EXPECT_EQ(r[1].state, RequestState::kDone);
  EXPECT_EQ(r[2].state, RequestState::kUnfinished);  // started inside, ended outside
  EXPECT_EQ(r[3].state, RequestState::kUnfinished);  // never started
  EXPECT_EQ(r[3].start_ns, 0);
}

// When each batch began, with how many requests, on one lane that needs `service_ns` for any number.
struct Batch {
  std::int64_t start_ns = 0;  // after the first arrival is scheduled to come
  std::size_t size = 0;
  friend bool operator==(const Batch&, const Batch&) = default;
};
std::vector<Batch> batches_of(const OpenLoopConfig& config, std::int64_t service_ns) {
  std::vector<Batch> batches;
  const FakeClock clock;
  const auto begin = clock.now_ns();
  OpenLoop loop(config, begin);
  while (loop.serve(clock, [&](std::span<Request> batch) {
    batches.push_back({clock.now_ns() - begin, batch.size()});
    clock.advance(service_ns);
  })) {
  }
  return batches;
}

TEST(DynamicBatching, WithoutATimeoutABatchIsWhatWaits) {
  OpenLoopConfig config;
  config.arrivals_ns = {0, kMs, 2 * kMs, 3 * kMs, 4 * kMs, 5 * kMs};
  config.batching.max_requests = 4;
  EXPECT_EQ(batches_of(config, 10 * kMs), (std::vector<Batch>{{0, 1}, {10 * kMs, 4}, {20 * kMs, 1}}));
}

// By hand: up to 3 requests, 4 ms of patience, 5 ms of service.
//   0 and 1 wait for more until 4 and are through at 9. 6 and 7 came meanwhile and would wait until 10, but 9
//   fills their batch at once. 9.5 has waited enough at 13.5, and the lane is free at 14. 30 waits alone
//   until 34.
TEST(DynamicBatching, AHandComputedSchedule) {
  OpenLoopConfig config;
  config.arrivals_ns = {0, kMs, 6 * kMs, 7 * kMs, 9 * kMs, 9 * kMs + kMs / 2, 30 * kMs};
  config.batching = {3, 4 * kMs};
  EXPECT_EQ(batches_of(config, 5 * kMs),
            (std::vector<Batch>{{4 * kMs, 2}, {9 * kMs, 3}, {14 * kMs, 1}, {34 * kMs, 1}}));
  const auto r = run_virtual(config, [](const FakeClock& c) { c.advance(5 * kMs); });
  std::vector<std::int64_t> latency_us, sizes;
  for (const auto& one : r) {
    latency_us.push_back(one.latency_ns() / 1000);
    sizes.push_back(one.batch);
    EXPECT_EQ(one.state, RequestState::kDone);
  }
  EXPECT_EQ(latency_us, (std::vector<std::int64_t>{9000, 8000, 8000, 7000, 5000, 9500, 9000}));
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{2, 2, 3, 3, 3, 1, 1}));
}

TEST(DynamicBatching, AFullBatchStartsAtOnce) {
  OpenLoopConfig config;
  config.arrivals_ns = {0, kMs, 2 * kMs};
  config.batching = {2, kS};
  EXPECT_EQ(batches_of(config, 0), (std::vector<Batch>{{kMs, 2}, {2 * kMs + kS, 1}}));
}

TEST(DynamicBatching, OneRequestAtATimeNeverWaits) {
  OpenLoopConfig config;
  config.arrivals_ns = {0, kMs};
  config.batching = {1, kS};
  EXPECT_EQ(batches_of(config, 0), (std::vector<Batch>{{0, 1}, {kMs, 1}}));
}

TEST(DynamicBatching, ARequestThatTimedOutIsInNoBatch) {
  OpenLoopConfig config;
  config.arrivals_ns = {0, kMs, 9 * kMs};
  config.timeout_ns = 5 * kMs;
  config.batching.max_requests = 4;
  EXPECT_EQ(batches_of(config, 10 * kMs), (std::vector<Batch>{{0, 1}, {10 * kMs, 1}}));
  const auto r = run_virtual(config, [](const FakeClock& c) { c.advance(10 * kMs); });
  EXPECT_EQ(r[1].state, RequestState::kTimedOut);
  EXPECT_EQ(r[1].batch, 0);
}

// A server that needs as long for a batch as for one request: at twice what it could do one by one it keeps
// up, and at twice that again with batches of four.
TEST(DynamicBatching, BatchesCarryALoadThatSingleRequestsDoNot) {
  auto config = poisson(200, 20'000, 3);
  config.drain_ns = 1000 * kS;
  const auto service = [](const FakeClock& c) { c.advance(10 * kMs); };
  const auto slow = latencies(run_virtual(config, service));
  config.batching.max_requests = 4;
  const auto fast = latencies(run_virtual(config, service));
  EXPECT_GT(mean_of(slow), 1);
  EXPECT_LT(mean_of(fast), 0.03);
}

TEST(DynamicBatching, AnInterruptWhileABatchFormsOffersNothing) {
  std::atomic<bool> interrupt = false;
  OpenLoopConfig config;
  config.arrivals_ns = {0, kMs, 2 * kMs};
  config.batching = {3, kS};
  struct Interrupting : FakeClock {
    std::atomic<bool>* flag = nullptr;
    void wait_until(std::int64_t when_ns) const {
      FakeClock::wait_until(when_ns);
      *flag = now_ns() >= kS + kMs;  // the second request came
    }
  } clock;
  clock.flag = &interrupt;
  OpenLoop loop(config, clock.now_ns(), &interrupt);
  EXPECT_FALSE(loop.serve(clock, [](std::span<Request>) { FAIL(); }));
  for (const auto& one : loop.take_requests()) EXPECT_EQ(one.state, RequestState::kWaiting);
}

TEST(OpenLoop, AnInterruptedRunLeavesTheRestUntouched) {
  std::atomic<bool> interrupt = false;
  const FakeClock clock;
  OpenLoop loop(poisson(1000, 100, 1), clock.now_ns(), &interrupt);
  int served = 0;
  while (loop.serve(clock, [&](std::span<Request>) {
    clock.advance(kMs);
    if (++served == 10) interrupt = true;
  })) {
  }
  const auto r = loop.take_requests();
  EXPECT_EQ(std::count_if(r.begin(), r.end(), [](const auto& x) { return x.state == RequestState::kDone; }),
            10);
  EXPECT_EQ(r.back().state, RequestState::kWaiting);
}

TEST(OpenLoop, ThreadsServeEveryRequestOnce) {
  OpenLoopConfig config;
  config.arrivals_ns = schedule_arrivals(ArrivalKind::kPoisson, 20'000, 2000, 4);
  LaneCrew crew(3);
  const HostWaitingClock clock;
  std::atomic<std::int64_t> served = 0;
  auto body = [&](int, std::span<Request> batch) { served += static_cast<std::int64_t>(batch.size()); };
  const auto r = run_open_loop(clock, body, crew, config, {});
  EXPECT_EQ(served, 2000);
  for (const auto& one : r) {
    ASSERT_EQ(one.state, RequestState::kDone);
    ASSERT_LE(one.scheduled_ns, one.start_ns);
    ASSERT_LE(one.start_ns, one.end_ns);
  }
}

}  // namespace
}  // namespace paceline::measure
