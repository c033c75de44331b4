// SPDX-License-Identifier: MIT
#include "measure/shared_queue.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <numeric>
#include <thread>

#include "measure/arrivals.h"
#include "support/fake_clock.h"
#include "support/times.h"

// The queue that several processes share: in virtual time, and with real processes that are killed.
namespace paceline::measure {
namespace {

using support::FakeClock;
using test::kMs;
using test::kS;

FileDescriptor copy_of(int fd) {
  return FileDescriptor(::dup(fd));
}

// An instance in this process: its own view of the queue, in the round that is open.
SharedQueue join(const SharedQueue& parent) {
  SharedQueue view(copy_of(parent.file()));
  EXPECT_TRUE(view.wait_for_round());
  return view;
}

std::int64_t sum(const ClaimTally& t) {
  return t.done + t.timed_out + t.unfinished + t.failed;
}

TEST(SharedQueue, InVirtualTimeItIsTheOpenLoop) {
  const FakeClock clock, other;
  OpenLoopConfig config;
  config.arrivals_ns = schedule_arrivals(ArrivalKind::kPoisson, 100, 2000, 3);
  config.timeout_ns = 30 * kMs;
  OpenLoop loop(config, clock.now_ns());
  while (loop.serve(clock, [&](std::span<Request>) { clock.advance(9 * kMs); })) {
  }
  const auto expected = loop.take_requests();

  SharedQueue queue(1);
  queue.open({other.now_ns(), 0, config.arrivals_ns, config.timeout_ns, config.drain_ns});
  auto instance = join(queue);
  while (instance.serve(other, 0, [&](auto) { other.advance(9 * kMs); })) {
  }
  const auto got = queue.requests();
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].state, expected[i].state) << i;
    ASSERT_EQ(got[i].scheduled_ns, expected[i].scheduled_ns) << i;
    ASSERT_EQ(got[i].end_ns, expected[i].end_ns) << i;
    ASSERT_EQ(got[i].issue_delay_ns, expected[i].issue_delay_ns) << i;
  }
  EXPECT_GT(queue.tally().front().timed_out, 0);
  EXPECT_EQ(sum(queue.tally().front()), 2000);
}

TEST(SharedQueue, BatchesAreThoseOfTheOpenLoop) {
  const FakeClock clock, other;
  OpenLoopConfig config;
  config.arrivals_ns = schedule_arrivals(ArrivalKind::kPoisson, 300, 2000, 3);
  config.timeout_ns = 40 * kMs;
  config.batching = {4, 5 * kMs};
  OpenLoop loop(config, clock.now_ns());
  while (
      loop.serve(clock, [&](std::span<Request> b) { clock.advance(static_cast<int>(b.size()) * 3 * kMs); })) {
  }
  const auto expected = loop.take_requests();

  SharedQueue queue(1);
  queue.open({other.now_ns(), 0, config.arrivals_ns, config.timeout_ns, config.drain_ns, config.batching});
  auto instance = join(queue);
  while (instance.serve(other, 0, [&](auto b) { other.advance(static_cast<int>(b.size()) * 3 * kMs); })) {
  }
  const auto got = queue.requests();
  ASSERT_EQ(got.size(), expected.size());
  std::int64_t full = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].state, expected[i].state) << i;
    ASSERT_EQ(got[i].batch, expected[i].batch) << i;
    ASSERT_EQ(got[i].end_ns, expected[i].end_ns) << i;
    full += got[i].batch == 4;
  }
  EXPECT_GT(full, 100);
  EXPECT_EQ(sum(queue.tally().front()), 2000);
}

TEST(SharedQueue, CopiesOfARequestReachItsRecord) {
  const FakeClock clock;
  SharedQueue queue(1);
  queue.open({clock.now_ns(), 0, {0, 0, 0}, 0, kS, {2, 0}});
  auto instance = join(queue);
  while (instance.serve(clock, 0, [&](auto batch) {
    for (auto& one : batch) one.input_ns = 7, one.output_ns = 8;
    clock.advance(kMs);
  })) {
  }
  const auto got = queue.requests();
  EXPECT_EQ(got[2].input_ns, 7);
  EXPECT_EQ(got[2].output_ns, 8);
  EXPECT_EQ(got[2].instance, 0);
  EXPECT_EQ(got[1].batch, 2);
  EXPECT_EQ(got[2].batch, 1);
}

TEST(SharedQueue, RequestsCutOffByTheDrainAreUnfinished) {
  const FakeClock clock;
  SharedQueue queue(1);
  queue.open({clock.now_ns(), 0, std::vector<std::int64_t>(10, 0), 0, 3 * kS});
  auto instance = join(queue);
  while (instance.serve(clock, 0, [&](auto) { clock.advance(kS); })) {
  }
  const auto tally = queue.tally().front();
  EXPECT_EQ(tally.done, 3);
  EXPECT_EQ(tally.unfinished, 7);
}

TEST(SharedQueue, ManyClaimersNeverShareARequest) {
  constexpr int kClaimers = 4, kRequests = 20'000;
  SharedQueue queue(kClaimers);
  queue.open({0, kRequests});
  std::vector<std::int64_t> claims(kClaimers, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < kClaimers; ++i)
    threads.emplace_back([&, i] {
      auto view = join(queue);
      while (auto* slot = view.claim(i)) {
        slot->end_ns += 1;  // a second claim would add to it
        slot->state = static_cast<std::uint32_t>(RequestState::kDone);
        ++claims[static_cast<std::size_t>(i)];
      }
    });
  for (auto& thread : threads) thread.join();
  const auto requests = queue.requests();
  ASSERT_EQ(requests.size(), static_cast<std::size_t>(kRequests));
  EXPECT_TRUE(std::all_of(requests.begin(), requests.end(), [](const auto& r) { return r.end_ns == 1; }));
  EXPECT_EQ(std::accumulate(claims.begin(), claims.end(), std::int64_t{0}), kRequests);
  const auto tally = queue.tally();
  for (int i = 0; i < kClaimers; ++i)
    EXPECT_EQ(tally[static_cast<std::size_t>(i)].claimed, claims[static_cast<std::size_t>(i)]);
}

TEST(SharedQueue, ADeadOwnersRequestsFailAndTheOthersGoOn) {
  const FakeClock clock;
  SharedQueue queue(2);
  queue.open({0, 10});
  auto first = join(queue), second = join(queue);
  ASSERT_TRUE(first.serve(clock, 0, [](auto) {}));
  ASSERT_NE(first.claim(0), nullptr);  // and there it dies
  queue.fail_claims(0);
  while (second.serve(clock, 1, [](auto) {})) {
  }
  const auto tally = queue.tally();
  EXPECT_EQ(tally[0].claimed, 2);
  EXPECT_EQ(tally[0].done, 1);
  EXPECT_EQ(tally[0].failed, 1);
  EXPECT_EQ(tally[1].done, 8);
  EXPECT_EQ(queue.requests()[1].state, RequestState::kFailed);
  EXPECT_EQ(queue.collect().size(), 10U);
  EXPECT_TRUE(queue.collect().empty());
}

TEST(SharedQueue, AStoppedRoundOffersNothingMore) {
  const FakeClock clock;
  SharedQueue queue(1);
  queue.open({0, 10});
  auto instance = join(queue);
  ASSERT_TRUE(instance.serve(clock, 0, [](auto) {}));
  queue.stop();
  EXPECT_FALSE(instance.serve(clock, 0, [](auto) {}));
  EXPECT_EQ(queue.tally().front().claimed, 1);
}

TEST(SharedQueue, EachRoundIsNew) {
  const FakeClock clock;
  SharedQueue queue(1);
  SharedQueue instance(copy_of(queue.file()));
  for (const std::int64_t count : {5, 100'000, 3}) {
    queue.open({0, count});
    ASSERT_TRUE(instance.wait_for_round());
    EXPECT_FALSE(queue.finished(0));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(instance.serve(clock, 0, [](auto) {}));
    instance.mark_finished(0);
    EXPECT_TRUE(queue.finished(0));
    EXPECT_EQ(queue.tally().front().done, 3);
  }
  queue.close();
  EXPECT_FALSE(instance.wait_for_round());
}

// Serves rounds in a process of its own until the queue is closed.
pid_t fork_instance(const SharedQueue& queue, int index, std::int64_t service_ns) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  SharedQueue view(copy_of(queue.file()));
  const HostWaitingClock clock;
  view.mark_ready(index, 1);
  while (view.wait_for_round()) {
    while (view.serve(clock, index, [&](auto) { clock.wait_until(clock.now_ns() + service_ns); })) {
    }
    view.mark_finished(index);
  }
  ::_exit(0);
}

// Claims a batch that never fills and is killed while it holds the turn.
pid_t fork_waiting_instance(const SharedQueue& queue) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  SharedQueue view(copy_of(queue.file()));
  const HostWaitingClock clock;
  view.mark_ready(0, 1);
  view.wait_for_round();
  view.serve(clock, 0, [](auto) {});
  ::_exit(0);
}

void end(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
}

TEST(SharedQueueProcesses, KillingOneLosesNoAccount) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    SharedQueue queue(2);
    const pid_t victim = fork_instance(queue, 0, kMs), survivor = fork_instance(queue, 1, kMs);
    while (!queue.ready(0) || !queue.ready(1)) std::this_thread::yield();
    const SteadyClock clock;
    queue.open({clock.now_ns(), 0, schedule_arrivals(ArrivalKind::kPoisson, 1500, 300, 1), 0, 10 * kS});
    while (queue.claimed() < 60 + 7 * attempt) std::this_thread::yield();
    ::kill(victim, SIGKILL);
    end(victim);
    queue.fail_claims(0);
    while (!queue.finished(1)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto tally = queue.tally();
    EXPECT_EQ(tally[0].claimed + tally[1].claimed, 300);
    EXPECT_EQ(sum(tally[0]), tally[0].claimed);
    EXPECT_EQ(tally[1].done, tally[1].claimed);
    EXPECT_LE(tally[0].failed, 1);
    EXPECT_EQ(tally[0].done, tally[0].claimed - tally[0].failed);
    queue.close();
    end(survivor);
  }
}

TEST(SharedQueueProcesses, KillingTheOneWhoseTurnItIsLetsTheOthersGoOn) {
  SharedQueue queue(2);
  const pid_t victim = fork_waiting_instance(queue);
  while (!queue.ready(0)) std::this_thread::yield();
  const SteadyClock clock;
  queue.open({clock.now_ns(), 0, {0, 3600 * kS, 3600 * kS}, 0, 100'000 * kS, {3, 7200 * kS}});
  while (queue.claimed() < 1) std::this_thread::yield();
  ::kill(victim, SIGKILL);
  end(victim);
  queue.fail_claims(0);
  const FakeClock later;
  later.advance(clock.now_ns() + 3600 * kS);
  auto survivor = join(queue);
  EXPECT_TRUE(survivor.serve(later, 1, [](auto batch) { EXPECT_EQ(batch.size(), 2U); }));
  EXPECT_FALSE(survivor.serve(later, 1, [](auto) {}));
  const auto tally = queue.tally();
  EXPECT_EQ(tally[0].failed, 1);
  EXPECT_EQ(tally[1].claimed, 2);
}

}  // namespace
}  // namespace paceline::measure
