// SPDX-License-Identifier: MIT
#include "cluster/meeting_point.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "support/words.h"

namespace paceline::cluster {
namespace {

using test::expect_words;

const std::atomic<bool> kNever{false};
constexpr const char* kPod = "KUBERNETES_SERVICE_HOST";

// 198.51.100.0/24 is nobody's (RFC 5737).
LaunchPlace by_hand(int node, const std::string& endpoint) {
  return place_by_hand(2, node, 1, endpoint);
}

std::string refusal(const LaunchPlace& place) {
  try {
    check_meeting_point(place, 0.1, kNever);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kConfig);
    return e.what();
  }
  return "";
}

class MeetingPoint : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv(kPod); }
  void TearDown() override { ::unsetenv(kPod); }
};

TEST_F(MeetingPoint, OwnAddressesServe) {
  EXPECT_EQ(refusal(by_hand(0, "127.0.0.1:29500")), "");
  EXPECT_EQ(refusal(by_hand(0, "localhost:29500")), "");
}

TEST_F(MeetingPoint, ANameThatNobodyKnows) {
  expect_words(
      refusal(by_hand(1, "no-such-host.invalid:29500")),
      {"--rdzv-endpoint no-such-host.invalid:29500: the host 'no-such-host.invalid' is unknown here"});
  auto slurm = by_hand(1, "no-such-host.invalid:1");
  slurm.written = "SLURM_JOB_NODELIST=no-such-host.invalid";
  expect_words(refusal(slurm), {"SLURM_JOB_NODELIST=no-such-host.invalid: ", "set MASTER_ADDR to a name"});
}

TEST_F(MeetingPoint, TheFirstHostMustHaveTheAddress) {
  expect_words(refusal(by_hand(0, "198.51.100.1:29500")),
               {"--rdzv-endpoint 198.51.100.1:29500: ", "does not have that address", "lo (127.0.0.1)",
                "start --node-rank 0 on the host that has it"});
  EXPECT_EQ(refusal(by_hand(1, "198.51.100.1:29500")), "");
}

TEST_F(MeetingPoint, NamesTheAddressAsWritten) {
  const auto place = find_place({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "198.51.100.1"}});
  expect_words(refusal(*place), {"MASTER_ADDR=198.51.100.1: the host of rank 0 "});
}

TEST_F(MeetingPoint, AnAgentsStoreIsItsOwnBusiness) {
  auto place = by_hand(0, "198.51.100.1:29500");
  place.agent_store = true;
  EXPECT_EQ(refusal(place), "");
}

TEST_F(MeetingPoint, AServiceHasAnAddressThatNoPodHas) {
  ::setenv(kPod, "10.0.0.1", 1);
  EXPECT_EQ(refusal(by_hand(0, "198.51.100.1:29500")), "");
}

TEST_F(MeetingPoint, AnInterruptEndsTheWait) {
  const std::atomic<bool> now{true};
  check_meeting_point(by_hand(0, "no-such-host.invalid:29500"), 60, now);
}

}  // namespace
}  // namespace paceline::cluster
