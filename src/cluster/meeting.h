// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cluster/roll_call.h"
#include "plugin/plugin.h"
#include "plugin/rank_group.h"

namespace paceline::cluster {

// Who wants to meet whom, and where.
struct Invitation {
  int rank = 0;
  int world = 1;
  plugin::Rendezvous where;
  std::string plan_hash;
  std::string local_address;  // of the interface to use; empty: chosen (local_address.h)
  double group_timeout_s = 60;
  Device device;
};

struct Meeting {
  std::shared_ptr<plugin::Store> store;
  Member self;
  std::vector<Member> roster;  // by rank
  plugin::GroupSpec group;     // for BackendEntry::join
};

// Connects to the store, calls the roll, chooses the network interface. Errors follow one rule, here and in
// whatever else brings ranks together: Error(kConfig), exit code 2, is a mistake that waiting does not heal
// (an address, port, interface or rank that is wrong, or said twice; plans that differ); Error(kTimeout),
// exit code 5, is a peer that did not come or does not answer.
Meeting meet(const plugin::BackendEntry& backend, const Invitation& invitation);

// The first of that alone. A port that another rank 0 has taken leads to its store, where the roll call names
// both.
std::shared_ptr<plugin::Store> reach_store(const plugin::BackendEntry& backend,
                                           const plugin::Rendezvous& where);

}  // namespace paceline::cluster
