// SPDX-License-Identifier: MIT
#include "cluster/cpu_share.h"

#include <gtest/gtest.h>

namespace paceline::cluster {
namespace {

Member member(int rank, const std::string& machine, std::vector<int> cpus) {
  return {rank, 4, "host", 100 + rank, "1.0", "hash", machine, 0, std::move(cpus)};
}

void expect_share(const CpuShare& share, int before, int ranks) {
  EXPECT_EQ(share.before, before);
  EXPECT_EQ(share.ranks, ranks);
}

TEST(CpuShare, RanksOfOneSetDivideIt) {
  const std::vector<int> all{0, 1, 2, 3};
  const std::vector<Member> roster{member(0, "a", all), member(1, "a", all), member(2, "b", all),
                                   member(3, "b", all)};
  expect_share(share_of_cpus(roster, 1, 4), 1, 2);
  expect_share(share_of_cpus(roster, 2, 4), 0, 2);
}

// srun -c 2, mpirun --map-by slot:PE=2
TEST(CpuShare, ARankWithCpusOfItsOwnKeepsThemAll) {
  const std::vector<Member> roster{member(0, "a", {0, 1}), member(1, "a", {2, 3})};
  expect_share(share_of_cpus(roster, 0, 2), 0, 1);
  expect_share(share_of_cpus(roster, 1, 2), 0, 1);
}

TEST(CpuShare, SmallerWorldsShareLess) {
  const std::vector<int> all{0, 1, 2, 3};
  const std::vector<Member> roster{member(0, "a", all), member(1, "a", all), member(2, "a", all)};
  expect_share(share_of_cpus(roster, 0, 1), 0, 1);
  expect_share(share_of_cpus(roster, 1, 2), 1, 2);
}

TEST(CpuShare, WhoDoesNotSayItsCpusMayUseTheMachine) {
  const std::vector<Member> roster{member(0, "a", {}), member(1, "a", {1}), member(2, "b", {1})};
  expect_share(share_of_cpus(roster, 1, 3), 1, 2);
}

}  // namespace
}  // namespace paceline::cluster
