// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "cluster/roll_call.h"

namespace paceline::cluster {

// How many ranks may use the same CPUs as one of them.
struct CpuShare {
  int before = 0;  // ranks of lower number
  int ranks = 1;   // all of them, that one included
};

// Which of the first `world` ranks share CPUs with rank `rank`. Ranks that a launcher bound to CPUs of their
// own share nothing; a rank that does not report its CPUs may use its whole machine.
CpuShare share_of_cpus(const std::vector<Member>& roster, int rank, int world);

}  // namespace paceline::cluster
