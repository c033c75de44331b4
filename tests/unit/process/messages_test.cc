// SPDX-License-Identifier: MIT
#include "process/messages.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "base/handle.h"

namespace paceline::process {
namespace {

class MessagesTest : public ::testing::Test {
 protected:
  MessagesTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    here_ = FileDescriptor(ends[0]), there_ = FileDescriptor(ends[1]);
  }
  FileDescriptor here_, there_;
};

TEST_F(MessagesTest, EachArrivesByItselfInOrder) {
  ASSERT_TRUE(send_message(here_.get(), {{"ask", "start"}, {"at", 7}}));
  ASSERT_TRUE(send_message(here_.get(), std::string(40'000, 'x')));
  EXPECT_EQ(receive_message(there_.get()), (nlohmann::json{{"ask", "start"}, {"at", 7}}));
  EXPECT_EQ(receive_message(there_.get()), nlohmann::json(std::string(40'000, 'x')));
}

TEST_F(MessagesTest, AClosedEndIsNoMessage) {
  ASSERT_TRUE(send_message(here_.get(), 1));
  here_.reset();
  EXPECT_EQ(receive_message(there_.get()), nlohmann::json(1));  // what was sent before
  EXPECT_EQ(receive_message(there_.get()), std::nullopt);
  EXPECT_FALSE(send_message(there_.get(), 2));
}

}  // namespace
}  // namespace paceline::process
