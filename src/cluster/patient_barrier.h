// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "plugin/rank_group.h"

namespace paceline::cluster {

// A barrier over the store, for work that takes some ranks longer than the timeout of a collective. All ranks
// make the same calls in the same order; nothing is sent over the group.
class PatientBarrier {
 public:
  // `store` is null for a single rank, which never waits; it outlives this. `limit` is the option that
  // limit_s comes from, for messages.
  PatientBarrier(plugin::Store* store, int rank, int world, double limit_s, std::string limit);
  // Waits until all ranks are here. Throws Error(kUnavailable) when one of them has failed or is not here
  // after limit_s; `what` says what it has not finished.
  void wait(const std::string& what);

 private:
  void wait_for(const std::string& key, int who, const std::string& what);

  plugin::Store* store_;
  int rank_;
  int world_;
  double limit_s_;
  std::string limit_;
  std::int64_t calls_ = 0;
};

}  // namespace paceline::cluster
