// SPDX-License-Identifier: MIT
#include "result/figures/summarize_load.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "result/figures/summarize.h"
#include "support/times.h"

namespace paceline::result {
namespace {

using test::kMs;

// A queue with exponential gaps and services, one server: 1 ms of service on average.
std::vector<Sample> queue(double load, std::int64_t n, std::uint64_t seed = 1) {
  const CounterRng random(seed, 3);
  const auto exponential = [&](std::int64_t i) {
    return -std::log1p(-random.uniform(static_cast<std::uint64_t>(i)));
  };
  std::vector<Sample> samples;
  double arrival = 0, free = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    arrival += exponential(2 * i) / load * kMs;
    const double start = std::max(arrival, free);
    free = start + exponential(2 * i + 1) * kMs;
    Sample s;
    s.index = i;
    s.start_ns = std::llround(arrival);
    s.host_ns = std::llround(free - arrival);
    s.queue_ns = std::llround(start - arrival);
    s.compute_ns = s.host_ns - *s.queue_ns;
    if (start == arrival) s.issue_delay_ns = 1000;
    samples.push_back(s);
  }
  return samples;
}

Load facts(double load) {
  Load l;
  l.arrival = "poisson";
  l.saturation_per_s = 1000;
  l.offered_per_s = load * 1000;
  return l;
}

CaseResult server_case(const std::vector<Sample>& samples, Load load) {
  CaseResult c;
  c.benchmark.scenario = Scenario::kServer;
  Repetition r;
  summarize_load(load, Scenario::kServer, samples);
  r.payload = load;
  c.repetitions = {r};
  summarize(c, samples, {});
  apply_load_rules(c);
  return c;
}

Load with_slo(double load, double bound_ms) {
  SloResult slo;
  slo.bound_ns = bound_ms * kMs;
  auto l = facts(load);
  l.slo = slo;
  return l;
}

void lose(std::vector<Sample>& samples, std::size_t from, std::size_t count, std::uint32_t flag) {
  for (std::size_t i = from; i < from + count; ++i) {
    samples[i].flags |= flag;
    samples[i].host_ns = 0;
    samples[i].queue_ns = samples[i].compute_ns = samples[i].issue_delay_ns = std::nullopt;
  }
}

const Quantile& p99(const CaseResult& c) {
  return c.stats.quantiles.back();
}

TEST(LengthRule, PublishesP99WhenTheRunIsLongEnough) {
  const auto c = server_case(queue(0.3, 10'000), facts(0.3));
  ASSERT_TRUE(p99(c).value_ns);
  EXPECT_NEAR(*p99(c).value_ns / (-std::log(0.01) / 0.7 * kMs), 1, 0.2);
  EXPECT_TRUE(p99(c).ci_low_ns);
  EXPECT_EQ(*c.load()->requests_needed, 8164);
  EXPECT_EQ(c.grade, Grade::kA);
}

TEST(LengthRule, SaysHowManyRequestsAreMissing) {
  const auto c = server_case(queue(0.5, 10'000), facts(0.5));
  EXPECT_FALSE(p99(c).value_ns);
  EXPECT_NE(p99(c).value_ns.reason().find("needs 6000 more requests"), std::string::npos);
  EXPECT_TRUE(c.stats.quantiles.front().value_ns);  // p50 needs 2 000
  EXPECT_FALSE(c.load()->stages.front().p99_ns);
  EXPECT_TRUE(c.load()->stages.front().mean_ns);
}

TEST(LengthRule, AMedianOfAShortRunHasNoInterval) {
  const auto c = server_case(queue(0.5, 1000), facts(0.5));
  EXPECT_TRUE(c.headline.p50_ns.value);
  EXPECT_FALSE(c.headline.p50_ns.ci_low);
}

TEST(LengthRule, NothingIsEnoughAtSaturation) {
  const auto c = server_case(queue(1.2, 20'000), facts(1.2));
  EXPECT_NE(p99(c).value_ns.reason().find("1.20 of saturation"), std::string::npos);
  EXPECT_EQ(c.grade, Grade::kC);
}

TEST(Server, TheStagesAddUpToTheMean) {
  const auto c = server_case(queue(0.3, 10'000), facts(0.3));
  double sum = 0;
  for (const auto& stage : c.load()->stages) sum += *stage.mean_ns;
  EXPECT_NEAR(sum, *c.stats.mean_ns, 1);
}

TEST(Server, MeanBatchIsPerInference) {
  auto load = facts(0.5);
  load.max_batch = 4;
  auto samples = queue(0.5, 8);
  for (auto& s : samples) s.batch = s.index < 2 ? 1 : s.index < 4 ? 2 : 4;  // 1, 1, 2 and 4 requests
  summarize_load(load, Scenario::kServer, samples);
  EXPECT_DOUBLE_EQ(*load.mean_batch, 2);
  ASSERT_EQ(load.batch_sizes.size(), 3U);
  EXPECT_EQ(load.batch_sizes[2].size, 4);
  EXPECT_EQ(load.batch_sizes[2].requests, 4);
  load.max_batch = 1;
  summarize_load(load, Scenario::kServer, queue(0.5, 8));
  EXPECT_FALSE(load.mean_batch);
  EXPECT_TRUE(load.batch_sizes.empty());
}

TEST(Server, LostRequestsCountAsInfinitelyLate) {
  auto samples = queue(0.3, 10'000);
  lose(samples, 5000, 50, kSampleTimedOut);
  const auto c = server_case(samples, facts(0.3));
  EXPECT_EQ(c.stats.n, 10'000);
  EXPECT_EQ(c.load()->timed_out, 50);
  EXPECT_FALSE(c.stats.mean_ns);
  EXPECT_TRUE(p99(c).value_ns);  // 0.5 % are lost: the 99th percentile is still among the others
  lose(samples, 6000, 100, kSampleUnfinished);
  const auto worse = server_case(samples, facts(0.3));
  EXPECT_FALSE(p99(worse).value_ns);
  EXPECT_NE(p99(worse).value_ns.reason().find("never completed"), std::string::npos);
  EXPECT_EQ(worse.grade, Grade::kC);
  EXPECT_TRUE(worse.stats.quantiles[1].value_ns);
}

TEST(Server, LosingEveryRequestIsAResult) {
  auto samples = queue(0.3, 100);
  lose(samples, 0, 100, kSampleUnfinished);
  const auto c = server_case(samples, facts(0.3));
  EXPECT_FALSE(c.headline.p50_ns.value);
  EXPECT_EQ(c.headline.p50_ns.value.reason(), "no request was completed");
  EXPECT_EQ(c.grade, Grade::kC);
}

TEST(Server, TheWarmUpPartIsCountedAndInNoStatistic) {
  auto samples = queue(0.3, 10'000);
  for (std::size_t i = 0; i < 1000; ++i) samples[i].flags |= kSampleWarmup;
  samples[5].host_ns = 1'000'000 * kMs;
  const auto c = server_case(samples, facts(0.3));
  EXPECT_EQ(c.stats.n, 9000);
  EXPECT_EQ(c.load()->warmup_requests, 1000);
  EXPECT_LT(*c.stats.max_ns, 1'000'000.0 * kMs);
}

TEST(Server, TellsHowLateFreeLanesNoticedRequests) {
  auto samples = queue(0.3, 10'000);
  std::int64_t free = 0;
  for (auto& s : samples) {
    if (!s.issue_delay_ns) continue;
    ++free;
    s.issue_delay_ns = 1000 + 100 * (free % 2) + (free % 1000 == 0 ? 50'000 : 0);
  }
  samples.back().issue_delay_ns = 70'000;
  const auto load = *server_case(samples, facts(0.3)).load();
  EXPECT_LE(*load.issue_delay_p50_ns, 1100);
  EXPECT_EQ(*load.issue_delay_p99_ns, 1100);
  EXPECT_EQ(*load.issue_delay_max_ns, 70'000);
  std::vector<Repetition> repetitions(2);
  for (auto& r : repetitions) r.payload = load;
  repetitions[1].load()->issue_delay_max_ns = 90'000;
  EXPECT_EQ(*combined_load(repetitions, {})->issue_delay_max_ns, 90'000);
  for (auto& s : samples) s.issue_delay_ns.reset();
  EXPECT_FALSE(server_case(samples, facts(0.3)).load()->issue_delay_max_ns);
}

TEST(Server, ALateGeneratorInvalidatesTheLatencies) {
  auto samples = queue(0.3, 10'000);
  for (auto& s : samples)
    if (s.issue_delay_ns) s.issue_delay_ns = 51'000;
  const auto c = server_case(samples, facts(0.3));
  EXPECT_EQ(c.grade, Grade::kC);
  EXPECT_NE(c.grade_reasons.front().find("generator_limited"), std::string::npos);
  EXPECT_EQ(server_case(samples, with_slo(0.3, 10)).grade, Grade::kA);  // 1 % of it are 100 us
}

// A late issue makes latencies longer: what holds all the same holds, and what misses may be the harness.
TEST(Slo, ALateGeneratorLeavesOnlyAMissOpen) {
  auto samples = queue(0.3, 20'000);
  for (auto& s : samples)
    if (s.issue_delay_ns) s.issue_delay_ns = 200'000;
  const auto judged = [&](double bound) { return *server_case(samples, with_slo(0.3, bound)).load(); };
  EXPECT_TRUE(issued_late(judged(15)));
  EXPECT_EQ(judged(15).slo->verdict, answer::Verdict::kYes);
  EXPECT_EQ(judged(3).slo->verdict, answer::Verdict::kCannotSay);
  EXPECT_NE(judged(3).slo->detail.find("generator_limited"), std::string::npos);
}

TEST(Capacity, OfSeveralProcessesHoldsInAllOfThem) {
  std::vector<Repetition> repetitions(2);
  for (std::size_t i = 0; i < 2; ++i) {
    Load load;
    load.capacity.per_s = i == 0 ? 110.0 : 100.0;
    load.capacity.missed_per_s = i == 0 ? 115.0 : 105.0;
    repetitions[i].payload = load;
  }
  const auto both = combined_load(repetitions, {})->capacity;
  EXPECT_DOUBLE_EQ(*both.per_s, 100);
  EXPECT_DOUBLE_EQ(*both.missed_per_s, 115);
  repetitions[1].load()->capacity.missed_per_s = Number::missing("nothing missed");
  EXPECT_FALSE(combined_load(repetitions, {})->capacity.missed_per_s);
}

TEST(Server, OfferedIsTheRateOfAllProcesses) {
  std::vector<Repetition> repetitions(2);
  for (std::size_t i = 0; i < 2; ++i) {
    Load load = facts(0.3);
    load.offered = 100;
    load.offered_per_s = i == 0 ? 300.0 : 100.0;
    auto& slo = load.slo.emplace();
    slo.offered_per_s = load.offered_per_s, slo.verdict = answer::Verdict::kYes;
    repetitions[i].payload = load;
  }
  const auto both = combined_load(repetitions, {}).value();
  EXPECT_DOUBLE_EQ(*both.offered_per_s, 150) << "200 requests in 4/3 s";
  EXPECT_DOUBLE_EQ(*both.slo->offered_per_s, 100) << "it holds in both at the lower rate only";
  repetitions[0].load()->slo->verdict = answer::Verdict::kNo;
  EXPECT_DOUBLE_EQ(*combined_load(repetitions, {})->slo->offered_per_s, 300);
}

TEST(Server, RequestsThatTimedOutAreNoBacklog) {
  std::vector<Sample> samples = queue(0.3, 4000);
  for (std::size_t i = 0; i < samples.size(); i += 5)
    samples[i].flags = kSampleTimedOut, samples[i].host_ns = 0;
  Load load = facts(0.3);
  summarize_load(load, Scenario::kServer, samples);
  EXPECT_LT(*load.backlog_slope_frac, 0.01);
  EXPECT_EQ(load.invalid.size(), 1U) << "only that they were lost";
  for (std::size_t i = 0; i < samples.size(); i += 5) samples[i].flags = kSampleUnfinished;
  summarize_load(load, Scenario::kServer, samples);
  EXPECT_NEAR(*load.backlog_slope_frac, 0.2, 0.02);
}

TEST(Slo, IsMetMissedOrCannotBeTold) {
  const auto samples = queue(0.3, 20'000);  // p99 is 6.6 ms
  const auto verdict = [&](double bound) {
    return server_case(samples, with_slo(0.3, bound)).load()->slo.value();
  };
  EXPECT_EQ(verdict(15).verdict, answer::Verdict::kYes);
  EXPECT_EQ(verdict(3).verdict, answer::Verdict::kNo);
  EXPECT_EQ(verdict(6.6).verdict, answer::Verdict::kCannotSay);
  EXPECT_NE(verdict(6.6).detail.find("more requests"), std::string::npos);
}

TEST(Slo, AShortRunCannotSay) {
  const auto slo = server_case(queue(0.3, 3000), with_slo(0.3, 100)).load()->slo.value();
  EXPECT_EQ(slo.verdict, answer::Verdict::kCannotSay);
  EXPECT_NE(slo.detail.find("needs about 5164 more requests"), std::string::npos);
}

TEST(Slo, AnOverloadedServerMisses) {
  const auto slo = server_case(queue(1.2, 20'000), with_slo(1.2, 5)).load()->slo.value();
  EXPECT_EQ(slo.verdict, answer::Verdict::kNo);
}

TEST(Slo, EveryProcessMustPass) {
  CaseResult c;
  c.benchmark.scenario = Scenario::kServer;
  std::vector<Sample> all;
  for (int repetition = 0; repetition < 3; ++repetition) {
    auto samples = queue(0.3, 20'000, static_cast<std::uint64_t>(repetition + 1));
    for (auto& s : samples) s.repetition = repetition;
    if (repetition == 1) lose(samples, 0, 1000, kSampleTimedOut);
    Load load = with_slo(0.3, 15);
    summarize_load(load, Scenario::kServer, samples);
    Repetition r;
    r.index = repetition;
    r.payload = load;
    c.repetitions.push_back(r);
    all.insert(all.end(), samples.begin(), samples.end());
  }
  summarize(c, all, {});
  EXPECT_EQ(c.load()->slo->verdict, answer::Verdict::kNo);
  EXPECT_EQ(c.load()->timed_out, 1000);
  EXPECT_EQ(c.load()->offered, 60'000);
  EXPECT_EQ(c.load()->requests, 20'000);  // the length of a process, not of all
}

// Two lanes of 2 ms each without a pause.
std::vector<Sample> lanes(std::int64_t n, std::int64_t pause_ns = 0) {
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t lane = 0; lane < 2; ++lane) {
      Sample s;
      s.index = static_cast<std::int64_t>(samples.size());
      s.start_ns = i * (2 * kMs + pause_ns) + lane * kMs;
      s.host_ns = 2 * kMs;
      samples.push_back(s);
    }
  return samples;
}

CaseResult closed_case(const std::vector<Sample>& samples) {
  CaseResult c;
  c.benchmark.scenario = Scenario::kClosedLoop;
  Load load;
  load.concurrency = 2;
  summarize_load(load, Scenario::kClosedLoop, samples);
  Repetition r;
  r.payload = load;
  c.repetitions = {r};
  summarize(c, samples, {});
  apply_load_rules(c);
  return c;
}

TEST(ClosedLoop, ThroughputIsThatOfAllLanes) {
  const auto c = closed_case(lanes(100));
  EXPECT_NEAR(*c.throughput.per_s.value, 1000, 1e-6);  // not the 500 of one lane
  EXPECT_DOUBLE_EQ(*c.headline.p50_ns.value, 2.0 * kMs);
  EXPECT_NEAR(*c.load()->in_flight, 2, 1e-9);
  EXPECT_EQ(c.grade, Grade::kA);
  EXPECT_FALSE(c.load()->utilization);
}

TEST(ClosedLoop, LanesThatIdleAreAnAccountingError) {
  const auto c = closed_case(lanes(100, kMs / 2));
  EXPECT_EQ(c.grade, Grade::kC);
  EXPECT_NE(c.grade_reasons.front().find("accounting"), std::string::npos);
}

TEST(Offline, ThroughputCountsFromTheSubmission) {
  CaseResult c;
  c.benchmark.scenario = Scenario::kOffline;
  Load load;
  const auto samples = lanes(100);
  summarize_load(load, Scenario::kOffline, samples);
  Repetition r;
  r.payload = load;
  c.repetitions = {r};
  summarize(c, samples, {.items_per_iteration = 8});
  EXPECT_NEAR(*c.throughput.per_s.value, 8 * 200 / 0.201, 1e-6);
}

}  // namespace
}  // namespace paceline::result
