// SPDX-License-Identifier: MIT
#include "cluster/launch_words.h"

#include <gtest/gtest.h>

namespace paceline::cluster {
namespace {

LaunchPlace place_of(const std::string& launcher, int world) {
  LaunchPlace place;
  place.launcher = launcher, place.world = world;
  return place;
}

TEST(LaunchWords, EachLauncherIsNamedAsItIsTyped) {
  const auto said = [](const std::string& launcher) {
    const auto place = place_of(launcher, 2);
    return started_words(place) + "; " + start_words(place, 8);
  };
  EXPECT_EQ(said("mpirun"), "mpirun has started 2 ranks; mpirun -np 8");
  EXPECT_EQ(said("mpich"), "mpiexec has started 2 ranks; mpiexec -n 8");
  EXPECT_EQ(said("srun"), "srun has started 2 ranks; srun -n 8");
  EXPECT_EQ(said("environment"), "RANK and WORLD_SIZE name 2 ranks; WORLD_SIZE=8");
  EXPECT_EQ(said("torchrun"), "torchrun has started 2 ranks; torchrun with 8 processes in all");
  EXPECT_EQ(said("kubernetes"), "the job has 2 ranks; a job of 8 ranks");
  EXPECT_EQ(said("by hand"),
            "--nnodes and --nproc-per-node start 2 ranks; --nnodes and --nproc-per-node for 8");
  EXPECT_EQ(started_words(place_of("mpirun", 1)), "mpirun has started 1 rank");
}

}  // namespace
}  // namespace paceline::cluster
