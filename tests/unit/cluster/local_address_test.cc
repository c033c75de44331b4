// SPDX-License-Identifier: MIT
#include "cluster/local_address.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

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
  for (const auto& call : std::vector<std::pair<std::string, std::function<void()>>>{
           {"GLOO_SOCKET_IFNAME=eth99", [] { local_address("127.0.0.1", 29500, "eth99", true); }},
           {"--interface eth99", [] { check_interface("eth99", "--interface eth99"); }}}) {
    try {
      call.second();
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kConfig);
      EXPECT_TRUE(std::string(e.what()).starts_with(call.first + ": ")) << e.what();
      EXPECT_NE(std::string(e.what()).find("lo (127.0.0.1)"), std::string::npos) << e.what();
    }
  }
  check_interface("lo", "");
}

TEST(LocalAddress, ThisHostAndOthers) {
  EXPECT_TRUE(is_this_host("localhost"));
  EXPECT_TRUE(is_this_host("127.0.0.1"));
  EXPECT_FALSE(is_this_host("198.51.100.1"));  // nobody's (RFC 5737)
  EXPECT_FALSE(is_this_host("no-such-host.invalid"));
}

TEST(LocalAddress, NamesThatDoNotResolve) {
  EXPECT_THROW(local_address("no-such-host.invalid", 1, "", true), Error);
}

}  // namespace
}  // namespace paceline::cluster
