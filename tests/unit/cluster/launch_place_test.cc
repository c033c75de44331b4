// SPDX-License-Identifier: MIT
#include "cluster/launch_place.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/words.h"

namespace paceline::cluster {
namespace {

using test::expect_words;

std::string error_of(const Environment& environment) {
  try {
    find_place(environment);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kConfig);
    return e.what();
  }
  return "no error";
}

Environment with(Environment base, const Environment& more) {
  for (const auto& [name, value] : more) base[name] = value;
  return base;
}

const Environment kTorchrun{{"RANK", "3"},
                            {"WORLD_SIZE", "4"},
                            {"LOCAL_RANK", "1"},
                            {"LOCAL_WORLD_SIZE", "2"},
                            {"MASTER_ADDR", "node0"},
                            {"MASTER_PORT", "29400"},
                            {"TORCHELASTIC_RUN_ID", "j1"},
                            {"TORCHELASTIC_RESTART_COUNT", "2"},
                            {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Environment kSlurm{{"SLURM_PROCID", "2"},     {"SLURM_NTASKS", "3"},
                         {"SLURM_LOCALID", "0"},    {"SLURM_STEP_ID", "0"},
                         {"SLURM_JOB_ID", "12345"}, {"SLURM_STEP_TASKS_PER_NODE", "2,1"},
                         {"SLURM_NODEID", "1"},     {"SLURM_JOB_NODELIST", "n[07-08]"}};
const Environment kOpenMpi{{"OMPI_COMM_WORLD_RANK", "1"},
                           {"OMPI_COMM_WORLD_SIZE", "2"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                           {"PMIX_NAMESPACE", "4711"}};

TEST(LaunchPlace, AProcessWithoutVariablesWasNotLaunched) {
  EXPECT_FALSE(find_place({}));
  EXPECT_FALSE(find_place({{"PATH", "/bin"}, {"MASTER_ADDR", "node0"}, {"WORLD_SIZE", "4"}, {"RANK", ""}}));
}

TEST(LaunchPlace, TorchrunServesTheStore) {
  const auto place = find_place(kTorchrun);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->launcher, "torchrun");
  EXPECT_EQ(place->rank, 3);
  EXPECT_EQ(place->world, 4);
  EXPECT_EQ(place->local_rank, 1);
  EXPECT_EQ(place->local_world, 2);
  EXPECT_EQ(place->attempt, 2);
  const auto where = rendezvous_of(*place, 7);
  EXPECT_EQ(where.address, "node0");
  EXPECT_EQ(where.port, 29400);
  EXPECT_FALSE(where.serve);
  EXPECT_EQ(place->written, "MASTER_ADDR=node0");
  EXPECT_EQ(where.timeout_s, 7);
}

// Each agent counts its own restarts: hosts that joined later would look elsewhere.
TEST(LaunchPlace, RestartCountsOfHostsNeedNotAgree) {
  const auto late = find_place(with(kTorchrun, {{"TORCHELASTIC_RESTART_COUNT", "0"}}));
  EXPECT_EQ(rendezvous_of(*late, 1).prefix, rendezvous_of(*find_place(kTorchrun), 1).prefix);
}

TEST(LaunchPlace, TheAgentServesForRankZeroToo) {
  const auto place = find_place(with(kTorchrun, {{"RANK", "0"}, {"LOCAL_RANK", "0"}}));
  EXPECT_FALSE(rendezvous_of(*place, 1).serve);
}

TEST(LaunchPlace, OpenMpiOnOneHostNeedsNoAddress) {
  const auto place = find_place(kOpenMpi);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->launcher, "mpirun");
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->address, "127.0.0.1");
  EXPECT_GE(place->port, 20'000);
  EXPECT_LT(place->port, 32'000);
  EXPECT_EQ(place->identity, "4711");
  EXPECT_TRUE(rendezvous_of(*find_place(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "0"}})), 1).serve);
}

TEST(LaunchPlace, OpenMpiOnSeveralHostsMustSayWhere) {
  const auto several = with(kOpenMpi, {{"OMPI_COMM_WORLD_SIZE", "4"}});
  expect_words(error_of(several), {"MASTER_ADDR", "mpirun", "-x MASTER_ADDR"});
  EXPECT_EQ(find_place(with(several, {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "77"}}))->port, 77);
}

TEST(LaunchPlace, Mpich) {
  const auto place =
      find_place({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}});
  EXPECT_EQ(place->launcher, "mpich");
  EXPECT_EQ(place->world, 2);
  EXPECT_EQ(place->port, 29'500);
}

TEST(LaunchPlace, SlurmStepWithNodeListAndPortOfTheJob) {
  const auto place = find_place(kSlurm);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->launcher, "srun");
  EXPECT_EQ(place->rank, 2);
  EXPECT_EQ(place->world, 3);
  EXPECT_EQ(place->local_world, 1);
  EXPECT_EQ(place->address, "n07");
  EXPECT_EQ(place->port, 20'000 + 12345 % 12'000);
  EXPECT_EQ(place->identity, "12345.0");
}

TEST(LaunchPlace, SrunMayAlsoSpeakPmi) {
  const auto place = find_place(with(kSlurm, {{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}}));  // --mpi=pmi2
  EXPECT_EQ(place->launcher, "srun");
  EXPECT_EQ(place->address, "n07");
}

TEST(LaunchPlace, StepsOfOneJobHavePortsOfTheirOwn) {
  EXPECT_NE(find_place(kSlurm)->port, find_place(with(kSlurm, {{"SLURM_STEP_ID", "1"}}))->port);
}

TEST(LaunchPlace, ABatchScriptIsNoRank) {
  auto script = kSlurm;
  script.erase("SLURM_STEP_ID");
  EXPECT_FALSE(find_place(script));
  EXPECT_FALSE(find_place(with(kSlurm, {{"SLURM_STEP_ID", "4294967290"}})));  // the shell of salloc
}

TEST(LaunchPlace, TorchrunAsTaskOfSlurmIsTorchrun) {
  EXPECT_EQ(find_place(with(kSlurm, kTorchrun))->launcher, "torchrun");
  EXPECT_EQ(find_place(with(kSlurm, kOpenMpi))->launcher, "mpirun");
}

TEST(LaunchPlace, ByHandMustAgreeWithTheLauncher) {
  const Environment by_hand{{"RANK", "0"}, {"WORLD_SIZE", "2"}};
  expect_words(error_of(with(kOpenMpi, by_hand)), {"RANK=0", "OMPI_COMM_WORLD_RANK=1", "unset"});
  const Environment other_world{{"RANK", "1"}, {"WORLD_SIZE", "5"}, {"MASTER_ADDR", "a"}};
  expect_words(error_of(with(kOpenMpi, other_world)), {"WORLD_SIZE=5", "OMPI_COMM_WORLD_SIZE=2"});
  const Environment same{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}};
  EXPECT_EQ(find_place(with(kOpenMpi, same))->rank, 1);
}

TEST(LaunchPlace, OneProcessIsNoLaunchUnlessAnAgentKeepsItsStore) {
  const auto slurm = with(kSlurm, {{"SLURM_PROCID", "0"},
                                   {"SLURM_NTASKS", "1"},
                                   {"SLURM_STEP_TASKS_PER_NODE", "1"},
                                   {"SLURM_NODEID", "0"}});
  EXPECT_TRUE(find_place(slurm)->alone());
  EXPECT_TRUE(find_place({{"RANK", "0"}, {"WORLD_SIZE", "1"}})->alone());
  EXPECT_FALSE(find_place(kOpenMpi)->alone());
  EXPECT_FALSE(
      find_place(with(kTorchrun,
                      {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}}))
          ->alone());  // it restarts its ranks from their checkpoints
}

// The shell of `srun -n1 --pty bash` has the variables of a step of one task.
TEST(LaunchPlace, VariablesByHandCountInTheShellOfAStep) {
  const Environment shell{{"SLURM_PROCID", "0"},  {"SLURM_NTASKS", "1"}, {"SLURM_LOCALID", "0"},
                          {"SLURM_STEP_ID", "0"}, {"SLURM_JOB_ID", "7"}, {"SLURM_NODEID", "0"}};
  const auto place = find_place(
      with(shell, {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "29400"}}));
  EXPECT_EQ(place->launcher, "environment");
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->world, 2);
}

TEST(LaunchPlace, RankAndWorldAreAClaimWithoutAnAddress) {
  const auto place = claimed_place({{"RANK", "1"}, {"WORLD_SIZE", "3"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->world, 3);
  EXPECT_EQ(place->local_world, 3);
  EXPECT_FALSE(claimed_place({{"WORLD_SIZE", "3"}}));
  EXPECT_FALSE(claimed_place({{"RANK", "1"}}));
  EXPECT_THROW(claimed_place({{"RANK", "3"}, {"WORLD_SIZE", "3"}}), Error);
}

TEST(LaunchPlace, IgnoresAnIncompletePlace) {
  expect_words(error_of({{"RANK", "1"}}), {"RANK=1", "WORLD_SIZE is not"});
  expect_words(error_of({{"OMPI_COMM_WORLD_RANK", "1"}}), {"OMPI_COMM_WORLD_SIZE is not"});
}

TEST(LaunchPlace, RanksOutsideTheirWorldAndJunk) {
  expect_words(error_of({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), {"RANK=2", "WORLD_SIZE=2", "0 to 1"});
  expect_words(error_of({{"RANK", "one"}, {"WORLD_SIZE", "2"}}), {"RANK=one"});
  expect_words(error_of({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}), {"RANK=-1"});
  expect_words(error_of(with(kTorchrun, {{"MASTER_PORT", "http"}})), {"MASTER_PORT=http"});
  expect_words(error_of(with(kTorchrun, {{"LOCAL_RANK", "2"}})), {"LOCAL_RANK=2", "LOCAL_WORLD_SIZE=2"});
}

TEST(LaunchPlace, KubernetesIndexedJob) {
  const auto place = find_place({{"JOB_COMPLETION_INDEX", "1"},
                                 {"WORLD_SIZE", "2"},
                                 {"MASTER_ADDR", "job-0.svc"},
                                 {"MASTER_PORT", "29500"},
                                 {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->launcher, "kubernetes");
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->address, "job-0.svc");
  EXPECT_FALSE(find_place({{"JOB_COMPLETION_INDEX", "1"}}));  // any indexed Job
}

TEST(LaunchPlace, PodsOfAnOperatorStartSeveralRanks) {
  const Environment pod{{"PET_NNODES", "2"},          {"PET_NODE_RANK", "1"},
                        {"PET_NPROC_PER_NODE", "4"},  {"PET_MASTER_ADDR", "pod0"},
                        {"PET_MASTER_PORT", "23456"}, {"RANK", "1"},
                        {"WORLD_SIZE", "2"}};
  const auto place = find_place(pod);
  EXPECT_EQ(place->rank, 4);
  EXPECT_EQ(place->ranks, 4);
  EXPECT_EQ(place->world, 8);
  EXPECT_EQ(place->address, "pod0");
  // torchrun has read them, and says the ranks itself
  EXPECT_EQ(find_place(with(pod, with(kTorchrun, {})))->launcher, "torchrun");
}

TEST(LaunchPlace, IgnoresAnOperatorsIncompleteVariables) {
  expect_words(error_of({{"PET_NNODES", "2"}}),
               {"PET_NNODES=2 is set, but PET_NODE_RANK is not", "torchrun"});
  expect_words(error_of({{"PET_NODE_RANK", "1"}}), {"PET_NODE_RANK=1 is set, but PET_NNODES is not"});
  expect_words(error_of({{"PET_NNODES", "1:3"}}), {"PET_NNODES=1:3: an elastic job", "torchrun --no-python"});
  expect_words(error_of({{"PET_NNODES", "2"}, {"PET_NODE_RANK", "2"}, {"PET_MASTER_ADDR", "a"}}),
               {"PET_NODE_RANK=2 with PET_NNODES=2", "0 to 1"});
  expect_words(error_of({{"PET_NNODES", "2"}, {"PET_NODE_RANK", "1"}, {"PET_RDZV_ENDPOINT", "a"}}),
               {"PET_RDZV_ENDPOINT 'a'", "port"});
  EXPECT_FALSE(find_place({{"PET_NNODES", "1"}}));  // a training of one pod
  // RANK says the pods by itself
  const Environment pods{{"PET_NNODES", "1:3"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}};
  EXPECT_EQ(find_place(pods)->world, 2);
}

TEST(LaunchPlace, PortsOfVariables) {
  for (const auto* port : {"0", "99999"})
    expect_words(error_of(with(kTorchrun, {{"MASTER_PORT", port}})), {port, "1 to 65535"});
}

TEST(LaunchPlace, EndpointsByHand) {
  EXPECT_EQ(place_by_hand(2, 0, 1, "[fd00::1]:29500").address, "fd00::1");
  EXPECT_EQ(place_by_hand(2, 0, 1, "node0:29500").written, "--rdzv-endpoint node0:29500");
  for (const auto* bad : {"", "node0", "node0:", "node0:0", "node0:99999", "node0:port", ":29500", "[]:29500",
                          "fd00::1", "[fd00::1]"}) {
    try {
      place_by_hand(2, 1, 1, bad);
      ADD_FAILURE() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage);
      expect_words(e.what(), {"--rdzv-endpoint '", bad, "e.g. node0:29500"});
    }
  }
}

TEST(LaunchPlace, OneCommandAHost) {
  const auto place = place_by_hand(2, 1, 4, "node0:29500");
  EXPECT_EQ(place.rank, 4);
  EXPECT_EQ(place.ranks, 4);
  EXPECT_EQ(place.world, 8);
  EXPECT_EQ(place.local_world, 4);
  EXPECT_EQ(place.port, 29'500);
  EXPECT_FALSE(place.leads());
  EXPECT_THROW(place_by_hand(2, 2, 1, "node0:29500"), Error);
  EXPECT_THROW(place_by_hand(2, 1, 1, ""), Error);
  EXPECT_THROW(place_by_hand(2, 1, 1, "node0:port"), Error);
  EXPECT_THROW(place_by_hand(2, 1, 1, ":29500"), Error);
}

TEST(LaunchPlace, FirstHostOfNodeLists) {
  EXPECT_EQ(first_host("n1"), "n1");
  EXPECT_EQ(first_host("a,b"), "a");
  EXPECT_EQ(first_host("n[1-2,5]"), "n1");
  EXPECT_EQ(first_host("n[01-03,7],m1"), "n01");
  EXPECT_EQ(first_host("rack[2,4]-gpu,x"), "rack2-gpu");
  EXPECT_EQ(first_host("row[2-3]rack[07,9]n[10-12]-ib,x[1-2]"), "row2rack07n10-ib");
  EXPECT_EQ(first_host("a[1,2]b,c[3-4]"), "a1b");
  EXPECT_THROW(first_host("n[1-2]m["), Error);
  EXPECT_THROW(first_host("n]"), Error);
  EXPECT_THROW(first_host(""), Error);
  EXPECT_THROW(first_host("n["), Error);
  EXPECT_THROW(first_host("n[]"), Error);
  EXPECT_THROW(first_host("n[x-y]"), Error);
}

}  // namespace
}  // namespace paceline::cluster
