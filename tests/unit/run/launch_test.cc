// SPDX-License-Identifier: MIT
#include "run/ranks/launch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "base/error.h"
#include "support/fake_store.h"

namespace paceline::run {
namespace {

using test::FakeStore;

const std::atomic<bool> kNever{false};

cluster::LaunchPlace place(int rank, int ranks = 1, int world = 2) {
  cluster::LaunchPlace p;
  p.launcher = "test", p.identity = "launch-7";
  p.rank = rank, p.ranks = ranks, p.world = world, p.local_world = ranks;
  return p;
}

// Leader and follower have called the roll on one store.
struct Pair {
  FakeStore store;
  std::unique_ptr<Launch> leader, follower;
  explicit Pair(int ranks = 1) {
    std::thread other(
        [&] { follower = std::make_unique<Launch>(place(ranks, ranks, 2 * ranks), store, 20, "plan"); });
    leader = std::make_unique<Launch>(place(0, ranks, 2 * ranks), store, 20, "plan");
    other.join();
  }
};

TEST(Launch, ProcessesOfSeveralRanksAnswerForAll) {
  const Pair pair(3);
  EXPECT_EQ(pair.leader->hosts(), 2);
  EXPECT_TRUE(pair.store.values().contains("roll/5"));
}

// Place under torchrun: the agent's store is there before and after.
cluster::LaunchPlace elastic(int rank, int restarts, int world) {
  auto p = place(rank, 1, world);
  p.agent_store = true, p.attempt = restarts;
  return p;
}

struct Met {
  int attempt = 0;
  std::string run;
};

// Ranks of hosts that counted so many restarts each; what all of them know then.
std::vector<Met> meet_elastic(FakeStore& store, const std::vector<int>& restarts) {
  const auto world = static_cast<int>(restarts.size());
  std::vector<std::future<Met>> ranks;
  std::promise<void> named;
  const auto name_known = named.get_future().share();
  for (int rank = 0; rank < world; ++rank)
    ranks.push_back(std::async(std::launch::async, [&, rank] {
      Launch launch(elastic(rank, restarts[static_cast<std::size_t>(rank)], world), store, 20, "plan");
      if (rank == 0) launch.name_run(fmt::format("run of {} ranks", world)), named.set_value();
      name_known.wait();
      return Met{launch.place().attempt, launch.run_name()};
    }));
  std::vector<Met> met;
  for (auto& rank : ranks) met.push_back(rank.get());
  return met;
}

TEST(Launch, HostsThatCountedDifferentRestartsMeet) {
  FakeStore store;
  int attempt = 2;
  for (const auto& restarts : {std::vector{2, 0}, std::vector{0, 3}}) {
    for (const auto& met : meet_elastic(store, restarts)) {
      EXPECT_EQ(met.attempt, attempt);  // or some go on from a checkpoint, and others begin anew
      EXPECT_EQ(met.run, "run of 2 ranks");
    }
    ++attempt;
  }
}

// Hosts came and went, and no agent has counted a restart: ranks start anew on a store full of old words.
TEST(Launch, ChangesOfMembershipAreStartsOfTheirOwn) {
  FakeStore store;
  const std::vector<std::vector<int>> starts{{0, 0}, {0, 0, 0}, {0}, {0, 1}};
  int attempt = 0;
  for (const auto& restarts : starts) {
    for (const auto& met : meet_elastic(store, restarts)) {
      EXPECT_EQ(met.attempt, attempt);
      EXPECT_EQ(met.run, fmt::format("run of {} ranks", restarts.size()));
    }
    ++attempt;
  }
}

TEST(Launch, ProcessesOfOneMachineShareItsCpus) {
  const Pair pair(3);
  EXPECT_EQ(pair.leader->ranks_on_our_cpus(6), 6);
  EXPECT_EQ(pair.follower->ranks_on_our_cpus(6), 6);
  EXPECT_EQ(pair.leader->ranks_on_our_cpus(2), 2);
}

TEST(Launch, TheNameIsTheSameForAll) {
  Pair pair;
  pair.leader->name_run("20260101T000000Z-0000");
  EXPECT_EQ(pair.follower->run_name(), "20260101T000000Z-0000");
}

TEST(Launch, SmallerWorldsLeaveTheHigherRanksOut) {
  const Pair pair;
  EXPECT_TRUE(pair.leader->takes_part(1));
  EXPECT_FALSE(pair.follower->takes_part(1));
  EXPECT_TRUE(pair.follower->takes_part(2));
}

TEST(Launch, AFollowerWaitsForItsPassAndSkipsWhatIsPast) {
  Pair pair;
  std::thread leader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    pair.store.set("pass", text_of({3, "resnet50-b8", 2, /*timed=*/false}));
  });
  const auto at = pair.follower->wait_for(0, kNever);
  leader.join();
  ASSERT_TRUE(at);
  EXPECT_EQ(at->number, 3U);
  EXPECT_EQ(at->case_id, "resnet50-b8");
  EXPECT_EQ(at->repetition, 2);
  EXPECT_FALSE(at->timed);
  EXPECT_TRUE(pair.follower->wait_for(3, kNever));
}

// Ranks of ours that only see that a peer is gone.
struct MissesAPeer : process::PassExecutor {
  process::WorkerOutcome run(const process::WorkerRequest&, const std::atomic<bool>&,
                             const process::OnProgress&) override {
    process::WorkerOutcome outcome;
    outcome.reason_code = "peer", outcome.reason = "a peer of rank 0 is gone";
    return outcome;
  }
};

std::string reason_for_a_lost_peer(Pair& pair) {
  MissesAPeer ranks;
  process::WorkerRequest request;
  request.spec.kind = pass::PassKind::kTrain, request.spec.world_size = 2;
  request.spec.task = pass::TrainSpec{};
  return pair.leader->run_pass(ranks, request, kNever, {}).reason;
}

TEST(Launch, AProcessThatDoesNotAnswerIsNamedAndNotWaitedFor) {
  Pair pair;
  EXPECT_EQ(reason_for_a_lost_peer(pair).find("rank 1 on "), 0U);
  const auto begin = std::chrono::steady_clock::now();
  pair.leader->finish();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST(Launch, AProcessThatAnswersIsNotToBlame) {
  Pair pair;
  std::thread other([&] {
    pair.follower->wait_for(1, kNever);
    pair.follower->finish();
  });
  EXPECT_EQ(reason_for_a_lost_peer(pair), "a peer of rank 0 is gone");
  pair.leader->finish();
  other.join();
}

TEST(Launch, WordsThatAreNoPassAreAnError) {
  Pair pair;
  pair.store.set("pass", "3");
  EXPECT_THROW(pair.follower->wait_for(0, kNever), Error);
}

TEST(Launch, TheEndIsSaidAndAnswered) {
  Pair pair;
  std::thread leader([&] { pair.leader->finish(); });
  EXPECT_FALSE(pair.follower->wait_for(0, kNever));
  pair.follower->finish();
  leader.join();
}

TEST(Launch, AnInterruptEndsTheWait) {
  Pair pair;
  const std::atomic<bool> now{true};
  EXPECT_FALSE(pair.follower->wait_for(0, now));
}

TEST(Launch, AFollowerWithoutLeaderSaysSo) {
  Pair pair;
  pair.store.break_now();
  EXPECT_THROW(pair.follower->wait_for(0, kNever), Error);
  pair.follower->finish();  // nobody to say it to
}

}  // namespace
}  // namespace paceline::run
