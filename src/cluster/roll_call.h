// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <optional>
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
  std::string version;      // of Paceline
  std::string plan_hash;    // of what is going to run
  std::string machine{};    // whose CPUs: hosts may have one name, and one machine several hosts
  int attempt = 0;          // how often its launcher has started it before
  std::vector<int> cpus{};  // of that machine that the process may use; empty: it does not say
};

// This process as rank `rank` of `world`.
Member this_process(int rank, int world, const std::string& plan_hash);
std::string host_name();

// "rank 1 on node7 (process 4711)"
std::string words(const Member& member);

// Who has said on `store` to be rank `rank`. Throws Error(kConfig) when something else stands there.
std::optional<Member> registered(plugin::Store& store, int rank);

// Registers `self` and waits until all ranks of its world are there. Returns them in the order of ranks.
// Throws Error(kConfig) for two ranks of one number, another world size, version or plan, and Error(kTimeout)
// naming the ranks that are missing after `timeout_s`. Whoever finds a fault tells the others, so that all
// end with the same sentence and code at once; but who finds rank 0 of another training at the store leaves
// it alone.
// `ranks`: how many this process stands for, `self` the first. `interrupt` ends the wait with
// Error(kUnavailable); null: nobody interrupts.
std::vector<Member> roll_call(plugin::Store& store, const Member& self, double timeout_s, int ranks = 1,
                              const std::atomic<bool>* interrupt = nullptr);

}  // namespace paceline::cluster
