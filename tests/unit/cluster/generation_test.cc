// SPDX-License-Identifier: MIT
#include "cluster/generation.h"

#include <gtest/gtest.h>

#include <future>

#include "base/error.h"
#include "support/fake_store.h"

namespace paceline::cluster {
namespace {

using test::FakeStore;

Generation join_under(FakeStore& store, int rank) {
  return join_generation(store, rank, 20);
}

TEST(Generation, AllRanksGetTheSame) {
  FakeStore store;
  GenerationLeader leader(store, 3);
  auto other = std::async(std::launch::async, [&] { return join_under(store, 2); });
  const auto mine = join_under(store, 1);
  EXPECT_EQ(mine.folder(), leader.generation().folder());
  EXPECT_EQ(other.get().folder(), leader.generation().folder());
}

TEST(Generation, TheNextStartIsAnotherOnTheSameStore) {
  FakeStore store;
  std::string first;
  {
    GenerationLeader leader(store, 2);
    first = join_under(store, 1).folder();
    EXPECT_EQ(leader.generation().number, 0);
  }
  GenerationLeader again(store, 2);
  EXPECT_EQ(again.generation().number, 1);
  const auto joined = join_under(store, 1);
  EXPECT_NE(joined.folder(), first);
  EXPECT_EQ(joined.number, 1);
}

// Hello and welcome of ranks that have ended still stand there.
TEST(Generation, LeftoversAreNotTakenForAnswers) {
  FakeStore store;
  {
    GenerationLeader leader(store, 2);
    join_under(store, 1);
  }
  try {
    join_generation(store, 1, 0.3);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kTimeout);
    EXPECT_NE(std::string(e.what()).find("missing ranks: 0 (it has not answered rank 1 within 0.3 s)"),
              std::string::npos)
        << e.what();
  }
}

TEST(Generation, AnInterruptEndsTheWait) {
  FakeStore store;
  const std::atomic<bool> now{true};
  EXPECT_THROW(join_generation(store, 1, 60, &now), Error);
}

TEST(Generation, WhoComesBeforeRankZeroWaitsForIt) {
  FakeStore store;
  auto early = std::async(std::launch::async, [&] { return join_generation(store, 1, 20); });
  while (!store.get("hello/1")) std::this_thread::yield();
  GenerationLeader leader(store, 2);
  EXPECT_EQ(early.get().number, leader.generation().number);
}

}  // namespace
}  // namespace paceline::cluster
