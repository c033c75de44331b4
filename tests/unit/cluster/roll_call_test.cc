// SPDX-License-Identifier: MIT
#include "cluster/roll_call.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "cluster/plan_print.h"
#include "support/fake_store.h"

namespace paceline::cluster {
namespace {

using test::FakeStore;

Member member(int rank, int world, const std::string& host = "hostA") {
  return {rank, world, host, 100 + rank, "1.0", "hash"};
}

struct End {
  std::vector<Member> roster;
  std::string error;
  ErrorCode code = ErrorCode::kInternal;
};

// Every member calls the roll on a thread of its own.
std::vector<End> call_all(FakeStore& store, const std::vector<Member>& members, double timeout_s = 20) {
  std::vector<End> ends(members.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < members.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        ends[i].roster = roll_call(store, members[i], timeout_s);
      } catch (const Error& e) {
        ends[i].error = e.what(), ends[i].code = e.code();
      }
    });
  for (auto& thread : threads) thread.join();
  return ends;
}

void expect_refusal(const std::vector<End>& ends, ErrorCode code, std::initializer_list<const char*> words) {
  for (const auto& end : ends) {
    EXPECT_EQ(end.code, code) << end.error;
    EXPECT_EQ(end.error, ends.front().error);
    for (const auto* word : words) EXPECT_NE(end.error.find(word), std::string::npos) << end.error;
  }
}

TEST(RollCall, EverybodyLearnsWhoTheOthersAre) {
  FakeStore store;
  for (const auto& end : call_all(store, {member(0, 3), member(1, 3, "hostB"), member(2, 3)})) {
    ASSERT_EQ(end.error, "");
    ASSERT_EQ(end.roster.size(), 3u);
    for (int rank = 0; rank < 3; ++rank) {
      const auto& one = end.roster[static_cast<std::size_t>(rank)];
      EXPECT_EQ(one.rank, rank);
      EXPECT_EQ(one.process_id, 100 + rank);
    }
    EXPECT_EQ(end.roster[1].host, "hostB");
  }
}

TEST(RollCall, OneRankIsAlone) {
  FakeStore store;
  EXPECT_EQ(roll_call(store, member(0, 1), 1).size(), 1u);
}

TEST(RollCall, MissingRanksAreNamedToEverybody) {
  FakeStore store;
  const auto ends = call_all(store, {member(0, 6), member(1, 6), member(2, 6), member(4, 6, "hostB")}, 0.3);
  expect_refusal(ends, ErrorCode::kTimeout,
                 {"missing ranks: 3, 5 (of 6, after 0.3 s", "4 on hostB", "--rdzv-timeout"});
}

// A rank that waits for another one hears of its own mistake at once.
TEST(RollCall, AMistakeIsFoundBehindAMissingRank) {
  FakeStore store;
  auto other = member(3, 4, "hostB");
  other.plan_hash = "other";
  const auto begin = std::chrono::steady_clock::now();
  expect_refusal(call_all(store, {member(0, 4), member(2, 4), other}, 20), ErrorCode::kConfig,
                 {"different plans"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// Waits for the whole time today's ranks are given, unless one that cannot come says so.
TEST(RollCall, ARankThatCannotComeEndsTheWaitOfAll) {
  for (const int missing : {0, 2}) {
    FakeStore store;
    const auto begin = std::chrono::steady_clock::now();
    std::thread late([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      refuse_to_come(store, "rank 2 on hostB: no memory");
    });
    std::vector<Member> here;
    for (int rank = 0; rank < 3; ++rank)
      if (rank != missing) here.push_back(member(rank, 3));
    expect_refusal(call_all(store, here, 60), ErrorCode::kUnavailable, {"rank 2 on hostB: no memory"});
    late.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  }
}

TEST(RollCall, ALateRankZeroHearsThatNobodyGoesOn) {
  FakeStore store;
  refuse_to_come(store, "rank 1 on hostB: no memory");
  expect_refusal(call_all(store, {member(0, 2)}, 60), ErrorCode::kUnavailable,
                 {"rank 1 on hostB: no memory"});
}

TEST(RollCall, IgnoresARefusalAfterAllHaveCome) {
  FakeStore store;
  for (const auto& end : call_all(store, {member(0, 2), member(1, 2)})) EXPECT_EQ(end.error, "");
  refuse_to_come(store, "too late");
  EXPECT_EQ(roll_call(store, member(0, 2), 1).size(), 2u);
}

TEST(RollCall, VariablesOfEveryShellReachEverybody) {
  FakeStore store;
  auto other = member(1, 2, "hostB");
  other.variables = {{"NCCL_IB_HCA", "mlx5_1"}, {"OMP_NUM_THREADS", "1"}};
  for (const auto& end : call_all(store, {member(0, 2), other})) {
    ASSERT_EQ(end.error, "");
    EXPECT_TRUE(end.roster[0].variables.empty());
    EXPECT_EQ(end.roster[1].variables, other.variables);
  }
}

TEST(RollCall, TheMissingAreNamedWithoutRankZero) {
  FakeStore store;
  expect_refusal(call_all(store, {member(1, 4), member(3, 4)}, 0.3), ErrorCode::kTimeout,
                 {"missing ranks: 0, 2 (of 4", "1 on hostA, 3 on hostA"});
}

TEST(RollCall, WorldsOfTwoSizes) {
  FakeStore store;
  expect_refusal(call_all(store, {member(0, 2), member(1, 3)}), ErrorCode::kConfig,
                 {"worlds of different sizes", "rank 0 on hostA (process 100) has 2 ranks", "has 3 ranks"});
}

TEST(RollCall, TwoPlans) {
  FakeStore store;
  auto other = member(1, 2, "hostB");
  other.plan_hash = "other";
  expect_refusal(call_all(store, {member(0, 2), other}), ErrorCode::kConfig,
                 {"different plans", "rank 1 on hostB (process 101) has other"});
}

TEST(RollCall, TheFirstKeyInWhichPlansDifferIsNamed) {
  const std::string plan = "ranks: [2]\ntraining:\n  sizes: [1, 2]\n  lr: 0.1\noutput_dir: a\nonly x";
  const std::pair<std::string, std::string> rows[] = {
      {"ranks: [2]\ntraining:\n  sizes: [1, 2]\n  lr: 0.2\noutput_dir: b\nonly x", "training.lr"},
      {"ranks: [2]\ntraining:\n  sizes: [1, 2]\n  lr: 0.1\noutput_dir: b\nonly x", "output_dir"},
      {"ranks: [2]\ntraining:\n  sizes: [1, 2]\n  lr: 0.1\noutput_dir: a\nonly y", "only"}};
  for (const auto& [text, key] : rows) {
    FakeStore store;
    auto first = member(0, 2), second = member(1, 2, "hostB");
    first.plan = plan, second.plan = text, second.plan_hash = "other";
    first.print = plan_print(plan), second.print = plan_print(text);
    const auto words =
        "rank 0 on hostA (process 100) and rank 1 on hostB (process 101) differ in " + key + "; give";
    expect_refusal(call_all(store, {first, second}), ErrorCode::kConfig,
                   {"different plans: ", words.c_str()});
  }
}

TEST(RollCall, TwoVersions) {
  FakeStore store;
  auto other = member(0, 2);
  other.version = "0.9";
  expect_refusal(call_all(store, {other, member(1, 2)}), ErrorCode::kConfig,
                 {"different versions", "has 0.9", "has 1.0"});
}

TEST(RollCall, TwoProcessesOfOneRank) {
  FakeStore store;
  auto twin = member(1, 3, "hostB");
  twin.process_id = 9;
  const auto ends = call_all(store, {member(0, 3), member(1, 3), twin});
  expect_refusal(ends, ErrorCode::kConfig,
                 {"two processes are rank 1", "hostA (process 101)", "hostB (process 9)"});
}

// Its ranks have met already, or are not ours to send away.
TEST(RollCall, TheStoreOfAnotherTrainingIsLeftAlone) {
  FakeStore store;
  auto theirs = member(0, 2, "hostB");
  theirs.plan_hash = "theirs";
  std::thread other([&] { EXPECT_THROW(roll_call(store, theirs, 3), Error); });  // rank 1 never comes
  while (!registered(store, 0)) std::this_thread::yield();
  expect_refusal(call_all(store, {member(0, 2)}), ErrorCode::kConfig,
                 {"another training meets at this address: rank 0 on hostB (process 100)"});
  EXPECT_FALSE(store.get("roll/verdict"));
  other.join();
}

TEST(RollCall, TwoProcessesOfRankZero) {
  FakeStore store;
  auto twin = member(0, 2, "hostB");
  twin.process_id = 9;
  expect_refusal(call_all(store, {member(0, 2), twin}), ErrorCode::kConfig,
                 {"two processes are rank 0", "hostA (process 100)", "hostB (process 9)"});
}

TEST(RollCall, AnInterruptEndsTheWait) {
  FakeStore store;
  const std::atomic<bool> now{true};
  EXPECT_THROW(roll_call(store, member(0, 2), 60, 1, &now), Error);
  EXPECT_FALSE(store.get("roll/verdict"));  // the others need not end
}

TEST(RollCall, AllRanksGetTheCpus) {
  FakeStore store;
  auto self = member(0, 1);
  self.machine = "m", self.cpus = {2, 3};
  EXPECT_EQ(roll_call(store, self, 1).front().cpus, (std::vector<int>{2, 3}));
  EXPECT_EQ(registered(store, 0)->machine, "m");
  EXPECT_EQ(registered(store, 0)->cpus, (std::vector<int>{2, 3}));
}

TEST(RollCall, AStoreOfAnotherProgram) {
  FakeStore store;
  store.set("roll/1", "junk");
  expect_refusal(call_all(store, {member(0, 2)}), ErrorCode::kConfig,
                 {"another program uses this store", "junk"});
}

TEST(RollCall, ThisProcess) {
  const auto self = this_process(1, 2, "abc");
  EXPECT_EQ(self.rank, 1);
  EXPECT_FALSE(self.host.empty());
  EXPECT_FALSE(self.version.empty());
  EXPECT_GT(self.process_id, 0);
}

}  // namespace
}  // namespace paceline::cluster
