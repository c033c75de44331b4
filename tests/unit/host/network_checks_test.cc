// SPDX-License-Identifier: MIT
#include "host/checks/network_checks.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/handle.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

std::string limits(const std::string& files, const std::string& locked) {
  return "Limit Soft Limit Hard Limit Units\nMax open files " + files + " 524288 files\nMax locked memory " +
         locked + " unlimited bytes\nMax processes unlimited unlimited processes\n";
}

TEST(NetworkChecks, LimitsWarnWhereTheyAreLow) {
  FakeTree tree;
  tree.file("proc/self/limits", limits("65536", "8388608"));
  EXPECT_EQ(check_limits(tree.files()).status, Verdict::kYes);
  EXPECT_EQ(check_limits(tree.files()).text, "open files 65536, locked memory 8.39 MB, processes no limit");
  tree.file("proc/self/limits", limits("1024", "8388608"));
  EXPECT_EQ(check_limits(tree.files()).status, Verdict::kReservedly);
  EXPECT_EQ(check_limits(tree.files()).fix, "ulimit -n 65536");
}

TEST(NetworkChecks, LockedMemoryMattersToInfiniBandAlone) {
  FakeTree tree;
  tree.file("proc/self/limits", limits("65536", "8388608")).file("sys/class/infiniband/mlx5_0/fw_ver", "1");
  EXPECT_NE(check_limits(tree.files()).fix.find("ulimit -l unlimited"), std::string::npos);
  tree.file("proc/self/limits", limits("65536", "unlimited"));
  EXPECT_EQ(check_limits(tree.files()).status, Verdict::kYes);
}

TEST(NetworkChecks, AHostNameHasAnAddressThatOthersReach) {
  FakeTree tree;
  tree.file("proc/sys/kernel/hostname", "node0\n");
  const auto check = [&](std::vector<std::string> addresses) {
    return check_host_name(tree.files(), {{}, [=](const auto&) { return addresses; }});
  };
  EXPECT_EQ(check({"127.0.1.1", "10.0.0.7"}).text, "node0 is 10.0.0.7");
  EXPECT_EQ(check({"127.0.1.1", "::1"}).status, Verdict::kReservedly);
  EXPECT_EQ(check({"127.0.1.1"}).text, "node0 is 127.0.1.1, which other hosts cannot reach");
  EXPECT_EQ(check({}).status, Verdict::kReservedly);
  EXPECT_FALSE(check({}).fix.empty());
  EXPECT_FALSE(addresses_of("127.0.0.1").empty());
  EXPECT_TRUE(addresses_of("no-such-host.invalid").empty());
}

TEST(NetworkChecks, ClocksAreSynchronisedOrNot) {
  const auto check = [](int state, int bits) {
    return check_synchronisation({[=](timex* clock) {
                                    clock->status = bits, clock->maxerror = 12'500;
                                    errno = EPERM;
                                    return state;
                                  },
                                  {}});
  };
  EXPECT_EQ(check(TIME_OK, 0).text, "synchronised, off by 12.5 ms at most");
  EXPECT_EQ(check(TIME_ERROR, 0).status, Verdict::kReservedly);
  EXPECT_EQ(check(TIME_OK, STA_UNSYNC).status, Verdict::kReservedly);
  EXPECT_EQ(check(-1, 0).status, Verdict::kNotAsked);
  EXPECT_NE(check(-1, 0).text.find("Operation not permitted"), std::string::npos);
}

TEST(NetworkChecks, InfiniBandPortsAreShown) {
  FakeTree tree;
  EXPECT_EQ(check_infiniband(tree.files()).text, "no device: hosts talk over TCP");
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1/";
  tree.file(port + "state", "4: ACTIVE\n").file(port + "rate", "400 Gb/sec (4X NDR)\n");
  EXPECT_EQ(check_infiniband(tree.files()).text, "mlx5_0:1 4: ACTIVE, 400 Gb/sec (4X NDR)");
  EXPECT_EQ(check_infiniband(tree.files()).status, Verdict::kYes);
  tree.file("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
  EXPECT_EQ(check_infiniband(tree.files()).status, Verdict::kReservedly);
  EXPECT_EQ(check_infiniband(tree.files()).fix,
            "check cable and switch of mlx5_1:1, or leave it out: NCCL_IB_HCA=^mlx5_1:1");
  tree.file("sys/class/infiniband/mlx5_2/ports/1/state", "1: DOWN\n");
  EXPECT_EQ(
      check_infiniband(tree.files()).fix,
      "check cable and switch of mlx5_1:1, mlx5_2:1, or leave them out: NCCL_IB_HCA=^mlx5_1:1,mlx5_2:1");
}

TEST(NetworkChecks, APortThatIsTakenNamesItsOwner) {
  FakeTree tree;
  NetworkSeams seams;
  seams.can_listen = [](int port) { return port != 29500; };
  const auto check = [&](int port) { return check_port(tree.files(), seams, port); };
  EXPECT_EQ(check(29501).status, Verdict::kYes);
  EXPECT_EQ(check(29500).text, "port 29500 is taken by a process that is not visible here");
  EXPECT_NE(check(29500).fix.find("ss -ltnp 'sport = :29500'"), std::string::npos);
  constexpr const char* kHead =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode\n";
  tree.file("proc/net/tcp", std::string(kHead) +
                                "   0: 0100007F:733C 0100007F:9999 01 0:0 0:0 0 0 0 111 1\n"
                                "   1: 0100007F:733C 00000000:0000 0A 0:0 0:0 0 0 0 777 1\n");
  tree.file("proc/4711/comm", "python3\n").link("proc/4711/fd/3", "socket:[777]");
  tree.file("proc/12/comm", "sshd\n").link("proc/12/fd/3", "socket:[111]");
  EXPECT_EQ(check(29500).status, Verdict::kReservedly);
  EXPECT_EQ(check(29500).text, "port 29500 is taken by python3 (pid 4711)");
  EXPECT_EQ(check(29500).fix, "end it, or choose another port in --rdzv-endpoint or MASTER_PORT");
}

TEST(NetworkChecks, ThePortIsThatOfTheEnvironment) {
  ::unsetenv("MASTER_PORT");
  EXPECT_EQ(rendezvous_port(), 29500);
  for (const auto& [given, port] :
       {std::pair("31000", 31000), std::pair("70000", 29500), std::pair("x", 29500)}) {
    ::setenv("MASTER_PORT", given, 1);
    EXPECT_EQ(rendezvous_port(), port) << given;
  }
  ::unsetenv("MASTER_PORT");
}

// A listener on any address takes the port, also on one that others do not reach.
template <typename Address>
void expect_taken(int family, Address address) {
  FileDescriptor listener(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (!listener || ::bind(listener.get(), place, size) != 0) GTEST_SKIP() << "no such addresses here";
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), place, &size), 0);
  sockaddr_in ported{};  // the port is at one place in both
  std::memcpy(&ported, &address, offsetof(sockaddr_in, sin_addr));
  const int port = ntohs(ported.sin_port);
  EXPECT_FALSE(can_listen(port));
  const auto owner = check_port(SystemFiles(), {}, port).text;
  EXPECT_NE(owner.find(std::to_string(::getpid())), std::string::npos) << owner;
  listener.reset();
  EXPECT_TRUE(can_listen(port));
}

TEST(NetworkChecks, APortIsTakenWhileSomebodyListens) {
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET, loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  expect_taken(AF_INET, loopback);
}

TEST(NetworkChecks, APortIsTakenWhileSomebodyListensOverIPv6) {
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6, loopback.sin6_addr = in6addr_loopback;
  expect_taken(AF_INET6, loopback);
}

}  // namespace
}  // namespace paceline::host
