// SPDX-License-Identifier: MIT
#include "cluster/meeting.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/fake_store.h"

namespace paceline::cluster {
namespace {

std::shared_ptr<plugin::Store> connect_in_memory(const plugin::Rendezvous&) {
  return std::make_shared<test::FakeStore>();
}
std::shared_ptr<plugin::Store> connect_to_nobody(const plugin::Rendezvous& where) {
  throw Error(ErrorCode::kUnavailable, "nobody answers at " + where.address);
}

plugin::BackendEntry backend(std::shared_ptr<plugin::Store> (*connect)(const plugin::Rendezvous&)) {
  return {"fake", connect, nullptr};
}

TEST(Meeting, FillsWhatTheGroupNeeds) {
  Invitation invitation;
  invitation.where.port = 29'500;
  invitation.group_timeout_s = 5;
  invitation.plan_hash = "abc";
  const auto meeting = meet(backend(connect_in_memory), invitation);
  EXPECT_EQ(meeting.roster.size(), 1u);
  EXPECT_EQ(meeting.group.world, 1);
  EXPECT_EQ(meeting.group.timeout_s, 5);
  EXPECT_EQ(meeting.group.local_address, "127.0.0.1");
}

TEST(Meeting, AnAddressThatIsGivenIsTaken) {
  Invitation invitation;
  invitation.local_address = "10.1.2.3";
  EXPECT_EQ(meet(backend(connect_in_memory), invitation).group.local_address, "10.1.2.3");
}

// Nobody there is a failure, not a case that this machine cannot do.
TEST(Meeting, AStoreOutOfReachIsATimeout) {
  try {
    meet(backend(connect_to_nobody), {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kTimeout);
    EXPECT_NE(std::string(e.what()).find("127.0.0.1"), std::string::npos);
  }
}

// A port in use, where rank 0 of the same training has its store.
test::FakeStore& taken() {
  static test::FakeStore store;
  return store;
}
std::shared_ptr<plugin::Store> connect_where_taken(const plugin::Rendezvous& where) {
  if (where.serve) throw Error(ErrorCode::kConfig, "the port is in use");
  return {&taken(), [](plugin::Store*) {}};
}

TEST(Meeting, APortInUseLeadsToTheOtherRankZero) {
  plugin::Rendezvous where;
  where.serve = true;
  taken().set("roll/0", R"({"rank": 0})");
  EXPECT_TRUE(reach_store(backend(connect_where_taken), where)->get("roll/0"));
}

TEST(Meeting, APortInUseBySomethingElse) {
  plugin::Rendezvous where;
  where.serve = true;
  const auto in_use = [](const plugin::Rendezvous& w) -> std::shared_ptr<plugin::Store> {
    throw Error(w.serve ? ErrorCode::kConfig : ErrorCode::kUnavailable, "the port is in use");
  };
  try {
    reach_store(backend(in_use), where);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kConfig);
  }
}

}  // namespace
}  // namespace paceline::cluster
