// SPDX-License-Identifier: MIT
// Connects to the store, calls the roll and chooses the network interface, in one call.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cluster/roll_call.h"
#include "plugin/plugin.h"
#include "plugin/rank_group.h"

namespace paceline::cluster {

// Which rank wants to meet which world, and where.
struct Invitation {
  int rank = 0;
  int world = 1;
  plugin::Rendezvous where;
  std::string plan_hash;
  std::string local_address;  // address of the interface to use; empty: to be chosen (local_address.h)
  double group_timeout_s = 60;
  Device device;
};

struct Meeting {
  std::shared_ptr<plugin::Store> store;
  Member self;
  std::vector<Member> roster;  // by rank
  plugin::GroupSpec group;     // for BackendEntry::join
};

// Connects to the store, calls the roll and chooses the network interface. Errors follow one rule, here and
// wherever ranks are brought together: Error(kConfig), exit code 2, is a mistake that waiting does not heal
// (an address, port, interface or rank that is wrong or used twice; plans that differ); Error(kTimeout), exit
// code 5, is a peer that did not come or does not answer.
Meeting meet(const plugin::BackendEntry& backend, const Invitation& invitation);

// Only connects to the store. A port that another rank 0 has taken leads to its store, where the roll call
// names both ranks.
std::shared_ptr<plugin::Store> reach_store(const plugin::BackendEntry& backend,
                                           const plugin::Rendezvous& where);

}  // namespace paceline::cluster
