// SPDX-License-Identifier: MIT
#include "cluster/local_address.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::cluster {
namespace {

TEST(LocalAddress, LoopbackServesRanksOfOneHost) {
  EXPECT_EQ(local_address("127.0.0.1", 29500, "", true), "127.0.0.1");
  EXPECT_EQ(local_address("localhost", 29500, "lo", true), "127.0.0.1");
}

// Machines have one outer interface, or none, or several: each is an answer, loopback never.
TEST(LocalAddress, NeverLoopbackForSeveralHosts) {
  try {
    const auto address = local_address("127.0.0.1", 29500, "", false);
    EXPECT_FALSE(address.starts_with("127.")) << address;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("GLOO_SOCKET_IFNAME"), std::string::npos) << e.what();
  }
}

TEST(LocalAddress, UnknownInterface) {
  try {
    local_address("127.0.0.1", 29500, "eth99", true);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kConfig);
    EXPECT_NE(std::string(e.what()).find("GLOO_SOCKET_IFNAME=eth99"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("lo (127.0.0.1)"), std::string::npos) << e.what();
  }
}

TEST(LocalAddress, NamesThatDoNotResolve) {
  check_resolves("localhost", 0);
  try {
    check_resolves("no-such-host.invalid", 0);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kTimeout);
    EXPECT_NE(std::string(e.what()).find("no-such-host.invalid"), std::string::npos) << e.what();
  }
  EXPECT_THROW(local_address("no-such-host.invalid", 1, "", true), Error);
}

}  // namespace
}  // namespace paceline::cluster
