// SPDX-License-Identifier: MIT
// Task of a process that is one rank of several: how it meets the others, whatever they do then.
#pragma once
#include <cstdint>
#include <string>

#include "plugin/rank_group.h"

namespace paceline::pass {

struct RankSpec {
  std::string device = "cpu";  // cpu, or cuda:1
  std::string backend = "gloo";
  plugin::Rendezvous rendezvous;
  double group_timeout_s = 60;
  std::string launcher = "paceline";  // who started the ranks
  std::string plan_hash;              // equal on all ranks
};

}  // namespace paceline::pass
