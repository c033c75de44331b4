// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "plugin/rank_group.h"

// Before anything else every rank says on the store who it is, and looks who the others are.
namespace paceline::cluster {

struct Member {
  int rank = 0;
  int world = 1;
  std::string host;
  int process_id = 0;
  std::string version;    // of Paceline
  std::string plan_hash;  // of what is going to run
};

// This process as rank `rank` of `world`.
Member this_process(int rank, int world, const std::string& plan_hash);
std::string host_name();

// "rank 1 on node7 (process 4711)"
std::string words(const Member& member);

// Registers `self` and waits until all ranks of its world are there. Returns them in the order of ranks.
// Throws Error(kConfig) for two ranks of one number, another world size, version or plan, and Error(kTimeout)
// naming the ranks that are missing after `timeout_s`. Whoever finds a fault tells the others, so that all
// end with the same sentence at once.
// `ranks`: how many this process stands for, `self` the first.
std::vector<Member> roll_call(plugin::Store& store, const Member& self, double timeout_s, int ranks = 1);

}  // namespace paceline::cluster
