// SPDX-License-Identifier: MIT
// Agrees on which start of the ranks this is, on a store that outlives them.
#pragma once
#include <atomic>
#include <string>
#include <thread>

#include "plugin/rank_group.h"

// Ranks that a launcher restarts meet on a store that outlives them and still holds the keys of earlier ones,
// and each of the launcher's agents counts restarts for itself. So rank 0 of each start takes the next number
// on the store, and tells it to every rank that sends a word: an answer to a word never used before cannot be
// a leftover.
namespace paceline::cluster {

struct Generation {
  int number = 0;                            // earlier starts on this store
  [[nodiscard]] std::string folder() const;  // the folder of its keys
};

// Rank 0's side: takes a number, and answers on its own thread until it is destroyed.
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

// The side of the other ranks. Throws Error(kTimeout) when no living rank 0 answers within `timeout_s`, and
// Error(kUnavailable) at `interrupt`.
Generation join_generation(plugin::Store& store, int rank, double timeout_s,
                           const std::atomic<bool>* interrupt = nullptr);

}  // namespace paceline::cluster
