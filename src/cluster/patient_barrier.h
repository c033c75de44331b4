// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "plugin/rank_group.h"

namespace paceline::cluster {

// A barrier over the store, for work that may take some ranks longer than a collective waits. All ranks make
// the same calls in the same order; nothing is sent over the group.
class PatientBarrier {
 public:
  // `store`: null for a rank that is alone, which never waits; it outlives this. `limit`: the option that
  // limit_s comes from, for messages.
  PatientBarrier(plugin::Store* store, int rank, int world, double limit_s, std::string limit);
  // Until all ranks are here. Throws Error(kUnavailable): one of them has failed, or is not here after
  // limit_s; `what` says what it has not finished.
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
