// SPDX-License-Identifier: MIT
#include "workload/inference/server_run.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::workload {
namespace {

pass::PassSpec server(double share, double rate = 0) {
  pass::PassSpec spec;
  spec.inference.load.scenario = Scenario::kServer;
  spec.inference.load.share = share;
  spec.inference.load.rate_per_s = rate;
  return spec;
}

TEST(ServerPlan, IsAsLongAsP99Needs) {
  const auto plan = plan_server(server(0.5), 200);
  EXPECT_DOUBLE_EQ(plan.rate_per_s, 100);
  EXPECT_EQ(plan.needed, 16'000);
  EXPECT_GE(plan.requests - plan.warmup_requests, 16'000);
  EXPECT_LE(plan.requests, 17'800);
  EXPECT_NE(in_words(plan).find("enough for p99"), std::string::npos) << in_words(plan);
}

TEST(ServerPlan, AFastServerWarmsUpForFiveSeconds) {
  const auto plan = plan_server(server(0.5), 20'000);
  EXPECT_NEAR(plan.seconds(), 60, 0.01);    // t_min
  EXPECT_EQ(plan.warmup_requests, 60'000);  // a tenth, which is more than 5 s
  auto brief = server(0.5);
  brief.inference.load.t_min_s = 1;
  const auto shorter = plan_server(brief, 20'000);
  EXPECT_GE(shorter.requests - shorter.warmup_requests, 16'000);
}

TEST(ServerPlan, TheCapIsSaidBeforehand) {
  const auto plan = plan_server(server(0.9), 10);
  EXPECT_NEAR(plan.seconds(), 600, 0.1);
  EXPECT_NE(in_words(plan).find("p99 needs 395140 more requests"), std::string::npos) << in_words(plan);
}

TEST(ServerPlan, AFixedCountWins) {
  auto spec = server(0, 50);
  spec.loop.iterations = 100;
  const auto plan = plan_server(spec, 100);
  EXPECT_EQ(plan.requests, 100);
  EXPECT_EQ(plan.warmup_requests, 50);  // never more than half
}

TEST(ServerPlan, OverloadHasNoLength) {
  const auto plan = plan_server(server(0, 150), 100);
  EXPECT_FALSE(plan.needed);
  EXPECT_NE(in_words(plan).find("no length is enough"), std::string::npos);
}

// A request at 0, 0, 1, 2, … 99 s: 1 per second.
ArrivalFile recorded() {
  ArrivalFile file{"CSV, column time_ms", "ms", {0}};
  for (int i = 0; i < 100; ++i) file.seconds.push_back(i);
  return file;
}

TEST(ServerReplay, HasTheFilesOwnTimes) {
  auto spec = server(0);
  spec.inference.load.schedule_file = "/flow.csv";
  const auto plan = plan_replay(spec, 10, recorded());
  EXPECT_EQ(plan.requests, 101);
  EXPECT_DOUBLE_EQ(plan.rate_per_s, 100.0 / 99);
  EXPECT_EQ(plan.warmup_requests, 10);  // a tenth; six of them come within 5 s
  const auto times = open_loop_config(spec, plan).arrivals_ns;
  ASSERT_EQ(times.size(), 101U);
  EXPECT_EQ(times[1], 0);
  EXPECT_EQ(times[2], 1'000'000'000);
  EXPECT_EQ(times.back(), 99'000'000'000);
  spec.repetition = 3;
  EXPECT_EQ(times, open_loop_config(spec, plan).arrivals_ns);  // once per repetition
  const auto load = server_load(spec, plan);
  EXPECT_EQ(load.arrival, "recorded");
  ASSERT_TRUE(load.replay);
  EXPECT_EQ(load.replay->unit, "ms");
  EXPECT_EQ(load.replay->times, 101);
  EXPECT_NE(
      in_words(plan).find("schedule /flow.csv (CSV, column time_ms, in ms): all 101 times; 101 requests"),
      std::string::npos)
      << in_words(plan);
}

TEST(ServerReplay, IsScaledToTheRateOrTheLoadAskedFor) {
  const auto file = recorded();
  const auto twice = plan_replay(server(0, 2 * file.rate_per_s()), 10, file);
  EXPECT_EQ(twice.recorded_ns.back(), 49'500'000'000);
  EXPECT_DOUBLE_EQ(twice.replay->speed, 2);
  EXPECT_NE(in_words(twice).find(", 2 times as fast"), std::string::npos) << in_words(twice);
  const auto half = plan_replay(server(0.5), 10, file);  // 5 per second
  EXPECT_NEAR(half.rate_per_s, 5, 1e-6);
  EXPECT_NEAR(half.load(), 0.5, 1e-6);
  EXPECT_EQ(half.warmup_requests, 26);  // those of the first 5 s
}

// Two a second at first, then one in ten seconds: a cut part is faster than the file.
TEST(ServerReplay, APartHasTheRateAskedFor) {
  ArrivalFile file{"text", "s", {}};
  for (int i = 0; i < 40; ++i) file.seconds.push_back(i < 21 ? 0.5 * i : 10 + 10.0 * (i - 20));
  auto spec = server(0, 4);
  spec.inference.load.t_max_s = 5;
  const auto plan = plan_replay(spec, 10, file);
  EXPECT_EQ(plan.requests, 21);
  EXPECT_DOUBLE_EQ(plan.rate_per_s, 4);
  EXPECT_EQ(plan.recorded_ns.back(), 5'000'000'000);
  EXPECT_DOUBLE_EQ(plan.replay->speed, 2);
  spec.loop.iterations = 11;
  EXPECT_DOUBLE_EQ(plan_replay(spec, 10, file).rate_per_s, 4);
}

TEST(ServerReplay, EndsAtTheLimitsAndSaysSo) {
  auto spec = server(0);
  spec.inference.load.t_max_s = 20;
  const auto plan = plan_replay(spec, 10, recorded());
  EXPECT_EQ(plan.requests, 22);
  EXPECT_EQ(plan.replay->replayed, 22);
  EXPECT_NE(in_words(plan).find("the first 22 of 101 times"), std::string::npos) << in_words(plan);
  spec.loop.iterations = 5;
  EXPECT_EQ(plan_replay(spec, 10, recorded()).requests, 5);
  spec.loop.iterations = 2;  // both at 0 s
  EXPECT_THROW(plan_replay(spec, 10, recorded()), Error);
  spec.loop.iterations.reset();
  spec.inference.load.t_max_s = 0.5;
  EXPECT_THROW(plan_replay(spec, 10, recorded()), Error);
}

TEST(ServerReplay, AnObjectiveIsJudgedAtTheRateOfTheFile) {
  auto spec = server(0);
  spec.inference.load.slo_p = 0.99;
  EXPECT_TRUE(spec.inference.load.searches());
  spec.inference.load.schedule_file = "/flow.csv";
  EXPECT_FALSE(spec.inference.load.searches());
}

TEST(ServerSamples, KeepTheFateOfEveryRequest) {
  using measure::Request;
  using measure::RequestState;
  Request done{.scheduled_ns = 100, .start_ns = 150, .end_ns = 400};
  done.state = RequestState::kDone;
  done.input_ns = 20;
  Request timed_out{.scheduled_ns = 200};
  timed_out.state = RequestState::kTimedOut;
  Request unfinished{.scheduled_ns = 300};
  unfinished.state = RequestState::kUnfinished;
  const Request waiting{.scheduled_ns = 400};
  ServerPlan plan;
  plan.warmup_requests = 1;
  const auto samples = server_samples(server(0.5), plan, {done, timed_out, unfinished, waiting});
  ASSERT_EQ(samples.size(), 3U);  // one was never offered
  EXPECT_EQ(samples[0].flags, result::kSampleWarmup);
  EXPECT_EQ(samples[0].host_ns, 300);
  EXPECT_EQ(samples[0].queue_ns, 50);
  EXPECT_EQ(samples[0].input_ns, 20);
  EXPECT_EQ(samples[0].compute_ns, 230);
  EXPECT_EQ(samples[1].flags, result::kSampleTimedOut);
  EXPECT_EQ(samples[2].flags, result::kSampleUnfinished);
}

TEST(ServerSamples, SayWithWhomARequestWasServedAndWhere) {
  using measure::Request;
  Request alone{.end_ns = 1, .batch = 1, .instance = 2};
  alone.state = measure::RequestState::kDone;
  auto spec = server(0.5);
  const auto single = server_samples(spec, {}, {alone});
  EXPECT_FALSE(single[0].batch);  // no batches are formed
  EXPECT_EQ(single[0].instance, 2);
  spec.inference.load.max_batch = 4;
  spec.inference.load.batch_timeout_s = 0.002;
  EXPECT_EQ(server_samples(spec, {}, {alone})[0].batch, 1);
  const auto config = open_loop_config(spec, plan_server(spec, 200));
  EXPECT_EQ(config.batching.max_requests, 4);
  EXPECT_EQ(config.batching.timeout_ns, 2'000'000);
  EXPECT_EQ(server_load(spec, {}).max_batch, 4);
}

TEST(ServerSamples, RepetitionsHaveSchedulesOfTheirOwn) {
  auto spec = server(0.5);
  const auto plan = plan_server(spec, 200);
  const auto first = open_loop_config(spec, plan).arrivals_ns;
  EXPECT_EQ(first, open_loop_config(spec, plan).arrivals_ns);
  spec.repetition = 1;
  EXPECT_NE(first, open_loop_config(spec, plan).arrivals_ns);
}

}  // namespace
}  // namespace paceline::workload
