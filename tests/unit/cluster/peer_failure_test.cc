// SPDX-License-Identifier: MIT
#include "cluster/peer_failure.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "support/fake_store.h"

namespace paceline::cluster {
namespace {

using test::FakeStore;

Member member(int rank) {
  return {rank, 2, "hostB", 7, "1.0", "hash"};
}

std::string peer_words(const std::shared_ptr<FakeStore>& store, const Member& self) {
  try {
    work_as_member(store, self, [] { throw Error(ErrorCode::kUnavailable, "connection closed"); });
  } catch (const PeerFailure& e) {
    return e.what();
  }
  return "no PeerFailure";
}

TEST(PeerFailure, WorkThatEndsWellSaysNothing) {
  const auto store = std::make_shared<FakeStore>();
  work_as_member(store, member(0), [] {});
  EXPECT_EQ(reported_failure(*store, 0), "");
}

TEST(PeerFailure, ReportsOwnFailuresAndRethrows) {
  const auto store = std::make_shared<FakeStore>();
  EXPECT_THROW(work_as_member(store, member(1), [] { throw Error(ErrorCode::kData, "the loss is nan"); }),
               Error);
  EXPECT_EQ(reported_failure(*store, 0), "rank 1 on hostB (process 7): the loss is nan");
  EXPECT_THROW(work_as_member(store, member(0), [] { throw std::runtime_error("later"); }),
               std::runtime_error);
  EXPECT_EQ(reported_failure(*store, 0), "rank 1 on hostB (process 7): the loss is nan");
}

TEST(PeerFailure, SurvivorsNameTheFailedRank) {
  const auto store = std::make_shared<FakeStore>();
  report_failure(*store, "rank 1 on hostB: disk full");
  const auto words = peer_words(store, member(0));
  EXPECT_NE(words.find("rank 1 on hostB: disk full"), std::string::npos) << words;
}

TEST(PeerFailure, UsesTheGroupsErrorWithoutAReport) {
  const auto store = std::make_shared<FakeStore>();
  const auto words = peer_words(store, member(0));
  EXPECT_NE(words.find("a peer of rank 0 is gone: connection closed"), std::string::npos) << words;
  EXPECT_EQ(reported_failure(*store, 0), "");  // a victim accuses nobody
}

TEST(PeerFailure, AStoreThatIsGoneHidesNothing) {
  const auto store = std::make_shared<FakeStore>();
  store->break_now();
  EXPECT_NE(peer_words(store, member(0)).find("connection closed"), std::string::npos);
  EXPECT_THROW(work_as_member(store, member(1), [] { throw Error(ErrorCode::kData, "own"); }), Error);
}

// As behind a link that is cut: a question gets no answer.
class MuteStore : public FakeStore {
 public:
  std::optional<std::string> get(const std::string&) override {
    std::this_thread::sleep_for(std::chrono::seconds(20));
    return std::nullopt;
  }
};

TEST(PeerFailure, ASilentStoreDelaysNoRank) {
  const auto begin = std::chrono::steady_clock::now();
  const auto words = peer_words(std::make_shared<MuteStore>(), member(0));
  EXPECT_NE(words.find("connection closed"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

TEST(PeerFailure, ALoneRankHasNoPeers) {
  const auto store = std::make_shared<FakeStore>();
  Member alone = member(0);
  alone.world = 1;
  EXPECT_EQ(peer_words(store, member(0)).substr(0, 6), "a peer");
  EXPECT_THROW(
      {
        try {
          work_as_member(store, alone, [] { throw Error(ErrorCode::kUnavailable, "no library"); });
        } catch (const PeerFailure&) {
          FAIL() << "it has no peers";
        }
      },
      Error);
}

}  // namespace
}  // namespace paceline::cluster
