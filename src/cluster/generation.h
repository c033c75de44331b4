// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <string>
#include <thread>

#include "plugin/rank_group.h"

// Ranks that a launcher starts again meet on a store that outlives them, full of what earlier ones left, and
// its agents count restarts each for itself. So the rank 0 of each start takes the next number on the store,
// and tells it to every rank that says hello: an answer to a word never used before is no leftover.
namespace paceline::cluster {

struct Generation {
  int number = 0;                            // starts on this store before
  [[nodiscard]] std::string folder() const;  // of its keys
};

// Rank 0's side: takes a number, and answers on a thread of its own as long as it lives.
class GenerationLeader {
 public:
  GenerationLeader(plugin::Store& store, int world);
  GenerationLeader(const GenerationLeader&) = delete;
  GenerationLeader& operator=(const GenerationLeader&) = delete;
  ~GenerationLeader();
  [[nodiscard]] const Generation& generation() const { return generation_; }

 private:
  void answer();

  plugin::Store& store_;
  int world_;
  Generation generation_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

// The others' side. Throws Error(kTimeout) when no living rank 0 has answered within `timeout_s`, and
// Error(kUnavailable) at `interrupt`.
Generation join_generation(plugin::Store& store, int rank, double timeout_s,
                           const std::atomic<bool>* interrupt = nullptr);

}  // namespace paceline::cluster
