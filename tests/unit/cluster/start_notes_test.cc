// SPDX-License-Identifier: MIT
#include "cluster/start_notes.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/ask_until.h"
#include "base/resolve.h"

namespace paceline::cluster {
namespace {

const std::atomic<bool> kGoOn{false};
constexpr Pauses kPauses{std::chrono::milliseconds(1), std::chrono::milliseconds(20)};

// A port that no datagram socket has.
int free_port() {
  FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET, at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  return ntohs(at.sin_port);
}

LaunchPlace place_of(int node, int port, const std::string& host = "127.0.0.1") {
  return place_by_hand(3, node, 1, host + ":" + std::to_string(port));
}

std::string read_one(StartNotes& notes, double limit_s = 20) {
  std::optional<std::string> note;
  ask_until(deadline_in(limit_s), kPauses, [&] { return (note = notes.next_note()).has_value(); });
  return note.value_or("");
}

TEST(StartNotes, AreReadOnceAndTheirWriterIsLetGo) {
  for (const auto* host : {"127.0.0.1", "localhost"}) {
    const int port = free_port();
    StartNotes notes(place_of(0, port, host));
    std::atomic<bool> heard{false};
    const std::jthread writer(
        [&] { heard = leave_note(place_of(1, port, host), "no plug-in\nat all \x1b[31m", 60, kGoOn); });
    EXPECT_EQ(read_one(notes), "no plug-in at all \\x1b[31m") << host;
    EXPECT_EQ(read_one(notes, 0.5), "") << host;
    EXPECT_FALSE(heard);
    EXPECT_TRUE(notes.let_go());
    EXPECT_TRUE(ask_until(deadline_in(20), kPauses, [&] { return heard.load(); })) << host;
  }
}

TEST(StartNotes, WaitForARankZeroThatComesLater) {
  const int port = free_port();
  std::atomic<bool> heard{false};
  const std::jthread writer([&] { heard = leave_note(place_of(2, port), "too early", 60, kGoOn); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  StartNotes notes(place_of(0, port));
  EXPECT_EQ(read_one(notes), "too early");
  EXPECT_TRUE(notes.let_go());
  EXPECT_TRUE(ask_until(deadline_in(20), kPauses, [&] { return heard.load(); }));
}

TEST(StartNotes, NobodyIsLetGoWhoDidNotWrite) {
  StartNotes notes(place_of(0, free_port()));
  EXPECT_FALSE(notes.next_note());
  EXPECT_FALSE(notes.let_go());
}

// The next launch may use the same port, and anybody may send anything.
TEST(StartNotes, OfOtherLaunchesAndOtherTextAreNotRead) {
  const int port = free_port();
  StartNotes notes(place_of(0, port));
  auto other = place_of(1, port);
  other.world = 4;
  EXPECT_FALSE(leave_note(other, "another launch", 0.3, kGoOn));
  std::string problem;
  const auto at = resolve("127.0.0.1", port, SOCK_DGRAM, problem);
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM, 0));
  for (const std::string text : {"", "{", "[1]", R"({"launch": 3})", R"({"launch": "by hand 127.0.0.1 3"})"})
    ::sendto(socket.get(), text.data(), text.size(), 0, at->ai_addr, at->ai_addrlen);
  EXPECT_EQ(read_one(notes, 0.3), "");
  EXPECT_FALSE(notes.let_go());
}

TEST(StartNotes, AnInterruptEndsTheWait) {
  const std::atomic<bool> interrupt{true};
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(leave_note(place_of(1, free_port()), "never mind", 60, interrupt));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

// Missing ranks are missing then, as they are without notes.
TEST(StartNotes, APortInUseIsNoError) {
  const int port = free_port();
  const StartNotes first(place_of(0, port));
  StartNotes second(place_of(0, port));
  EXPECT_FALSE(second.next_note());
  EXPECT_FALSE(second.let_go());
}

}  // namespace
}  // namespace paceline::cluster
