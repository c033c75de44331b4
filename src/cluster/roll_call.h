// SPDX-License-Identifier: MIT
// Calls the roll over the store, and names ranks that are missing or do not fit.
#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/own_environment.h"
#include "plugin/rank_group.h"

namespace paceline::cluster {

struct Member {
  int rank = 0;
  int world = 1;
  std::string host;
  int process_id = 0;
  std::string version;      // of Paceline
  std::string plan_hash;    // of what is about to run
  std::string machine{};    // of the CPUs: hosts may share a name, and a machine may have several hosts
  int attempt = 0;          // how often its launcher has restarted it
  std::vector<int> cpus{};  // CPUs of that machine that the process may use; empty: not reported
  Environment variables{};  // of its shell, as far as they are recorded
  std::string print{};      // of the lines of its plan; empty: it does not tell
  std::string plan{};       // those lines, of this process alone
};

// This rank failed because another one had. The message names the other where it is known.
class PeerFailure : public Error {
 public:
  explicit PeerFailure(const std::string& message) : Error(ErrorCode::kUnavailable, message) {}
};

// Ends the roll call of the others, who throw PeerFailure(sentence): it says which rank cannot come, and why.
// Nothing happens where all have come, or the store is gone.
void refuse_to_come(plugin::Store& store, const std::string& sentence) noexcept;

// This process as rank `rank` of `world`.
Member this_process(int rank, int world, const std::string& plan_hash);
std::string host_name();

// "rank 1 on node7 (process 4711)"
std::string words(const Member& member);

// Who has registered on `store` as rank `rank`. Throws Error(kConfig) when something else is stored there.
std::optional<Member> registered(plugin::Store& store, int rank);

// Registers `self` and waits until all ranks of its world are there. Returns them in rank order. Throws
// Error(kConfig) for two ranks of the same number and for another world size, version or plan, and
// Error(kTimeout) naming the ranks that are missing after `timeout_s`, or PeerFailure. A rank that finds a
// fault reports it to the others, so that all end at once with the same message and code; but a rank that
// finds rank 0 of another training at the store leaves that one alone. `ranks` is the number of ranks of this
// process, of which `self` is the first. `interrupt`, which may be null, ends the wait with
// Error(kUnavailable).
std::vector<Member> roll_call(plugin::Store& store, const Member& self, double timeout_s, int ranks = 1,
                              const std::atomic<bool>* interrupt = nullptr);

}  // namespace paceline::cluster
