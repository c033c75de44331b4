// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <optional>
#include <string>

#include "plugin/rank_group.h"

// Where a launcher put this process, from the variables it set (docs/clusters.md lists them in their order).
namespace paceline::cluster {

using Environment = std::map<std::string, std::string>;

// Of this process.
Environment own_environment();

struct LaunchPlace {
  std::string launcher;      // torchrun | mpirun | mpich | srun | kubernetes | environment | by hand
  int rank = 0;              // of the first rank that this process starts
  int ranks = 1;             // that it starts
  int world = 1;             // all ranks of the launch
  int local_rank = 0;        // ranks of other processes of the launch that come before on this host
  int local_world = 1;       // all ranks on this host
  std::string address;       // of the host that serves the store
  int port = 0;              // of the store
  std::string written;       // what said the address: "MASTER_ADDR=node0"; empty: nothing did
  bool agent_store = false;  // the launcher serves it: every rank is a client
  int attempt = 0;           // how often the launcher of this host has restarted its ranks
  std::string identity;      // equal in all processes of a launch, another in the next

  [[nodiscard]] bool leads() const { return rank == 0; }
  [[nodiscard]] bool serves() const { return leads() && !agent_store; }
};

// nullopt: nobody launched this process. Throws Error(kConfig) naming variables and values: one without its
// partner, no number, a rank outside its world, two launchers that do not agree.
std::optional<LaunchPlace> find_place(const Environment& environment);

// One command a host: `node` of `nodes`, each with `ranks` ranks of its own, the store at `endpoint`
// (HOST:PORT, with brackets around an IPv6 address). Throws Error(kUsage).
LaunchPlace place_by_hand(int nodes, int node, int ranks, const std::string& endpoint);

// The store of a launch. The first rank serves it unless an agent does.
plugin::Rendezvous rendezvous_of(const LaunchPlace& place, double timeout_s);

// The first name of a Slurm node list: "n[1-2,5],m" is n1. Throws Error(kConfig) for what is none.
std::string first_host(const std::string& node_list);

}  // namespace paceline::cluster
