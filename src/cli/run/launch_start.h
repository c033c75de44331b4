// SPDX-License-Identifier: MIT
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cluster/launch_place.h"
#include "cluster/start_notes.h"

namespace paceline::cli {

// One process of a launch until all have met: rank 0 hears from those that cannot start.
class LaunchStart {
 public:
  explicit LaunchStart(const cluster::LaunchPlace& place);

  [[nodiscard]] const cluster::LaunchPlace& place() const { return place_; }
  [[nodiscard]] cluster::StartNotes* notes() { return notes_ ? &*notes_ : nullptr; }
  // From here on the store reports failures, or no other process is concerned.
  void close_notes() { met_ = true; }
  // After `error` was printed. A process that cannot start tells rank 0 and, through its error file,
  // torchrun. Rank 0 lets those who reported end first, so that the launcher names the right one.
  void end(const std::exception& error);

 private:
  cluster::LaunchPlace place_;
  std::optional<cluster::StartNotes> notes_;  // of rank 0
  bool met_ = false;
};

// A process that ends because of a peer waits, so that launchers see the peer's end first.
void let_the_peer_end_first();

// The error file in torchrun's own form, with which torchrun shows why the first rank failed.
void write_error_file(const std::string& reason);

// Says every few seconds how much is left of a wait of `limit_s`. The wait is over when this is destroyed.
class Patience {
 public:
  Patience(double limit_s, std::function<void(const std::string& left)> say);

 private:
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread thread_;
};

}  // namespace paceline::cli
