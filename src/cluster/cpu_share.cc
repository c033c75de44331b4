// SPDX-License-Identifier: MIT
#include "cluster/cpu_share.h"

#include <algorithm>

namespace paceline::cluster {
namespace {

bool share_any(const Member& a, const Member& b) {
  if (a.machine != b.machine) return false;
  if (a.cpus.empty() || b.cpus.empty()) return true;
  return std::find_first_of(a.cpus.begin(), a.cpus.end(), b.cpus.begin(), b.cpus.end()) != a.cpus.end();
}

}  // namespace

CpuShare share_of_cpus(const std::vector<Member>& roster, int rank, int world) {
  const auto& self = roster.at(static_cast<std::size_t>(rank));
  CpuShare share;
  for (const auto& other : roster) {
    if (other.rank == rank || other.rank >= world || !share_any(self, other)) continue;
    ++share.ranks;
    if (other.rank < rank) ++share.before;
  }
  return share;
}

}  // namespace paceline::cluster
