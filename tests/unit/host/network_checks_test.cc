// SPDX-License-Identifier: MIT
#include "host/network_checks.h"

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
  EXPECT_EQ(check_limits(tree.files()).status, CheckStatus::kPass);
  EXPECT_EQ(check_limits(tree.files()).text, "open files 65536, locked memory 8.39 MB, processes no limit");
  tree.file("proc/self/limits", limits("1024", "8388608"));
  EXPECT_EQ(check_limits(tree.files()).status, CheckStatus::kWarn);
  EXPECT_EQ(check_limits(tree.files()).fix, "ulimit -n 65536");
}

TEST(NetworkChecks, LockedMemoryMattersToInfiniBandAlone) {
  FakeTree tree;
  tree.file("proc/self/limits", limits("65536", "8388608")).file("sys/class/infiniband/mlx5_0/fw_ver", "1");
  EXPECT_NE(check_limits(tree.files()).fix.find("ulimit -l unlimited"), std::string::npos);
  tree.file("proc/self/limits", limits("65536", "unlimited"));
  EXPECT_EQ(check_limits(tree.files()).status, CheckStatus::kPass);
}

TEST(NetworkChecks, AHostNameHasAnAddressThatOthersReach) {
  FakeTree tree;
  tree.file("proc/sys/kernel/hostname", "node0\n");
  const auto check = [&](std::vector<std::string> addresses) {
    return check_host_name(tree.files(), {{}, [=](const auto&) { return addresses; }});
  };
  EXPECT_EQ(check({"127.0.1.1", "10.0.0.7"}).text, "node0 is 10.0.0.7");
  EXPECT_EQ(check({"127.0.1.1", "::1"}).status, CheckStatus::kWarn);
  EXPECT_EQ(check({"127.0.1.1"}).text, "node0 is 127.0.1.1, which other hosts cannot reach");
  EXPECT_EQ(check({}).status, CheckStatus::kWarn);
  EXPECT_FALSE(check({}).fix.empty());
  EXPECT_FALSE(addresses_of("127.0.0.1").empty());
  EXPECT_TRUE(addresses_of("no-such-host.invalid").empty());
}

TEST(NetworkChecks, ClocksAreSynchronisedOrNot) {
  EXPECT_EQ(check_synchronisation({[] { return std::optional(0.0125); }, {}}).text,
            "synchronised, off by 12.5 ms at most");
  EXPECT_EQ(check_synchronisation({[] { return std::optional<double>(); }, {}}).status, CheckStatus::kWarn);
}

TEST(NetworkChecks, InfiniBandPortsAreShown) {
  FakeTree tree;
  EXPECT_EQ(check_infiniband(tree.files()).text, "no device: hosts talk over TCP");
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1/";
  tree.file(port + "state", "4: ACTIVE\n").file(port + "rate", "400 Gb/sec (4X NDR)\n");
  EXPECT_EQ(check_infiniband(tree.files()).text, "mlx5_0:1 4: ACTIVE, 400 Gb/sec (4X NDR)");
  EXPECT_EQ(check_infiniband(tree.files()).status, CheckStatus::kPass);
  tree.file("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
  EXPECT_EQ(check_infiniband(tree.files()).status, CheckStatus::kWarn);
  EXPECT_NE(check_infiniband(tree.files()).fix.find("NCCL_IB_HCA=^mlx5_1:1"), std::string::npos);
}

}  // namespace
}  // namespace paceline::host
