// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

#include "measure/open_loop.h"
#include "pass/load_spec.h"
#include "workload/inference/server_run.h"

namespace paceline::workload {

// Notices that a trial of a capacity search misses its objective whatever its remaining requests do: even if
// all of them were within the bound, too many would be above it, and the test would call it a miss.
class CertainMiss {
 public:
  CertainMiss(const pass::LoadSpec& load, const ServerPlan& plan);
  // Adds requests that became final; true once the miss is certain, and also whether the harness issued too
  // many of them late.
  bool add(const std::vector<measure::Request>& final);

 private:
  // Whether too many were, even if `others` more are not.
  [[nodiscard]] bool issued_late(std::int64_t others) const;

  double p_, bound_ns_, limit_ns_;  // limit of the issue delay
  std::int64_t warmup_, counted_;   // requests of the schedule
  std::vector<double> latencies_;
  std::int64_t over_ = 0, delays_ = 0, late_ = 0;
  std::size_t next_look_ = 0;  // latencies at which the test is made again
};

}  // namespace paceline::workload
