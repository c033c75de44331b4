// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "training_driver.h"

namespace paceline::torch_test {
namespace {

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

plugin::Rendezvous at(const std::string& address, int port, double timeout_s) {
  plugin::Rendezvous where;
  where.address = address;
  where.port = port;
  where.timeout_s = timeout_s;
  return where;
}

const auto& gloo() {
  return torch_plugin().entry<plugin::Role::kBackend>("gloo");
}

void expect_unavailable(const std::function<void()>& call, const std::vector<std::string>& words) {
  expect_error(ErrorCode::kUnavailable, call, words);
}

TEST(Store, KeepsValuesForEverybody) {
  const Listener listener;
  const auto server = connect(listener, true), client = connect(listener, false);
  EXPECT_EQ(server->port(), listener.port);
  EXPECT_EQ(client->get("word"), std::nullopt);
  server->set("word", "first");
  EXPECT_EQ(client->get("word"), "first");
  EXPECT_EQ(client->set_if_absent("word", "second"), "first");
  EXPECT_EQ(client->set_if_absent("other", std::string("a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(server->get("other"), std::string("a\0b", 3));
}

TEST(Store, PrefixesKeepKeysApart) {
  const Listener listener;
  const auto server = connect(listener, true);
  auto where = at("127.0.0.1", listener.port, 10);
  where.prefix = "/pass_1";
  const auto inner = gloo().connect(where);
  inner->set("key", "inner");
  EXPECT_EQ(server->get("key"), std::nullopt);
  EXPECT_EQ(inner->get("key"), "inner");
}

TEST(Store, BindsAPortOfItsOwn) {
  auto where = at("127.0.0.1", 0, 10);
  where.serve = true;
  const auto server = gloo().connect(where);
  EXPECT_GT(server->port(), 0);
  server->set("key", "value");
  EXPECT_EQ(gloo().connect(at("127.0.0.1", server->port(), 10))->get("key"), "value");
}

// Nobody else on the network is to reach it.
TEST(Store, ListensOnItsAddressAlone) {
  for (const auto* host : {"127.0.0.1", "localhost"}) {
    auto where = at(host, 0, 10);
    where.serve = true;
    const auto server = gloo().connect(where);
    EXPECT_EQ(gloo().connect(at(host, server->port(), 10))->get("key"), std::nullopt);
    EXPECT_TRUE(gloo().connect(at("127.0.0.1", server->port(), 10)));
    expect_unavailable([&] { gloo().connect(at("127.0.0.2", server->port(), 1)); },
                       {"nobody serves a store"});
  }
}

TEST(Store, PortInUse) {
  const Listener listener;
  auto where = at("127.0.0.1", listener.port, 10);
  where.serve = true;
  expect_error(ErrorCode::kConfig, [&] { gloo().connect(where); },
               {"port " + std::to_string(listener.port) + " is in use"});
}

TEST(Store, FailsWithoutAServer) {
  Listener listener;
  ::close(listener.descriptor);
  const auto seconds = seconds_of([&] {
    expect_unavailable([&] { gloo().connect(at("127.0.0.1", listener.port, 1)); },
                       {"127.0.0.1:" + std::to_string(listener.port), "after 1 s"});
  });
  EXPECT_GE(seconds, 0.7);
  EXPECT_LE(seconds, 1.9);  // a whole second attempt would be twice the limit
}

TEST(Store, NameThatDoesNotResolve) {
  const auto seconds = seconds_of([&] {
    expect_error(ErrorCode::kConfig, [&] { gloo().connect(at("no-such-host.invalid", 29500, 60)); },
                 {"no-such-host.invalid:29500", "does not resolve"});
  });
  EXPECT_LE(seconds, 30);
}

TEST(Store, SomethingElseListens) {
  const Listener mute;
  expect_unavailable([&] { gloo().connect(at("127.0.0.1", mute.port, 1)); },
                     {"127.0.0.1:" + std::to_string(mute.port)});
}

TEST(Group, MovesBytesNumbersAndTexts) {
  with_ranks(3, [](plugin::RankGroup& group) {
    EXPECT_EQ(group.world(), 3);
    group.barrier();
    std::vector<std::byte> bytes(5, static_cast<std::byte>(group.rank()));
    group.broadcast(bytes, 1);
    EXPECT_EQ(bytes, std::vector<std::byte>(5, std::byte{1}));
    std::vector<double> numbers = {1.0 * group.rank(), -1.0 * group.rank()};
    group.reduce_max(numbers);
    EXPECT_EQ(numbers, (std::vector<double>{2, 0}));
    const auto texts = group.gather(std::string(static_cast<std::size_t>(group.rank()), 'x'));
    EXPECT_EQ(texts,
              group.rank() == 0 ? (std::vector<std::string>{"", "x", "xx"}) : std::vector<std::string>{});
  });
}

TEST(Group, OneRankNeedsNobody) {
  with_ranks(1, [](plugin::RankGroup& group) {
    group.barrier();
    EXPECT_EQ(group.gather("me"), std::vector<std::string>{"me"});
  });
}

TEST(Group, NamesTheRankThatDoesNotCome) {
  const Listener listener;
  const auto store = connect(listener, true);
  plugin::GroupSpec spec;
  spec.world = 2;
  spec.timeout_s = 1;
  expect_unavailable([&] { gloo().join(store, spec); }, {"rank 0 of 2", "rank 1 did not join"});
}

TEST(Group, RefusesAnAddressOfAnotherHost) {
  const Listener listener;
  const auto store = connect(listener, true);
  plugin::GroupSpec spec;
  spec.local_address = "192.0.2.1";  // reserved for documentation: nobody's
  expect_unavailable([&] { gloo().join(store, spec); }, {"192.0.2.1"});
}

TEST(Group, RefusesDevicesItCannotReduce) {
  const Listener listener;
  const auto store = connect(listener, true);
  plugin::GroupSpec spec;
  spec.device = {DeviceKind::kCuda, 0};
  expect_error(ErrorCode::kUnsupported, [&] { gloo().join(store, spec); },
               {"tensors of the CPU only", "cuda plug-in"});
}

TEST(Group, SaysThatAPeerHasGone) {
  with_ranks(2, [](plugin::RankGroup& group) {
    group.barrier();
    if (group.rank() == 1) return;  // its connections close with it
    expect_unavailable([&] { group.barrier(); }, {"rank 0", "another rank's process has ended"});
  });
}

TEST(Group, SaysThatAPeerIsSilent) {
  std::atomic<bool> over = false;
  with_ranks(
      2,
      [&](plugin::RankGroup& group) {
        if (group.rank() == 1) {
          while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(10));
          return;
        }
        expect_unavailable([&] { group.barrier(); }, {"did not answer within the group's timeout"});
        over = true;
      },
      1);
}

}  // namespace
}  // namespace paceline::torch_test
