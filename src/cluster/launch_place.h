// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "base/own_environment.h"
#include "plugin/rank_group.h"

// Where a launcher put this process, from the variables it set (docs/clusters.md lists them in their order).
namespace paceline::cluster {

struct LaunchPlace {
  std::string launcher;      // torchrun | mpirun | mpich | srun | kubernetes | environment | by hand
  int rank = 0;              // the first rank that this process starts
  int ranks = 1;             // how many it starts
  int world = 1;             // all ranks of the launch
  int local_rank = 0;        // number of ranks on this host in earlier processes of the launch
  int local_world = 1;       // all ranks on this host
  std::string address;       // host that serves the store
  int port = 0;              // port of the store
  std::string written;       // where the address came from: "MASTER_ADDR=node0"; empty: nowhere
  bool agent_store = false;  // the launcher serves the store, so every rank is a client
  int attempt = 0;           // how often the launcher of this host has restarted its ranks
  std::string identity;      // equal in all processes of a launch, different in the next launch

  // One process without a store of its launcher's is no launch: it starts all ranks itself.
  [[nodiscard]] bool alone() const { return world == 1 && !agent_store; }
  [[nodiscard]] bool leads() const { return rank == 0; }
  [[nodiscard]] bool serves() const { return leads() && !agent_store; }
};

// nullopt when no launcher started this process. Throws Error(kConfig) naming variables and values: one
// without its partner, a value that is not a number, a rank outside its world, two launchers that disagree.
std::optional<LaunchPlace> find_place(const Environment& environment);

// Rank and world alone, also where nothing says how the ranks meet: for work that has none. `local_world` is
// the whole world where no variable says it; a rank without a world does not count. Throws as find_place
// does.
std::optional<LaunchPlace> claimed_place(const Environment& environment);

// For one command per host: `node` of `nodes`, each with `ranks` ranks of its own, and the store at
// `endpoint` (HOST:PORT, with brackets around an IPv6 address). Throws Error(kUsage).
LaunchPlace place_by_hand(int nodes, int node, int ranks, const std::string& endpoint);

// The store of a launch. The first rank serves it unless an agent does.
plugin::Rendezvous rendezvous_of(const LaunchPlace& place, double timeout_s);

// The first name in a Slurm node list: n1 for "n[1-2,5],m". Throws Error(kConfig) for other text.
std::string first_host(const std::string& node_list);

}  // namespace paceline::cluster
