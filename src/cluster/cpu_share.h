// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "cluster/roll_call.h"

namespace paceline::cluster {

// Ranks that may use CPUs which one of them may use.
struct CpuShare {
  int before = 0;  // of lower number
  int ranks = 1;   // all, that one included
};

// What rank `rank` shares with others of the first `world` ranks. A launcher that bound every rank to CPUs of
// its own leaves nothing to share; where a rank does not say its CPUs, it may use all of its machine.
CpuShare share_of_cpus(const std::vector<Member>& roster, int rank, int world);

}  // namespace paceline::cluster
