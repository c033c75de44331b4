// SPDX-License-Identifier: MIT
// Processes of an inference case that share one queue: how the throughput scales with their number, and what
// each of them did. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "result/stored/case_result.h"
#include "stats/process_level.h"

namespace paceline::result {

// How many GPUs a case asks for, else how many instances; none where it asks for neither.
struct Replicas {
  std::int64_t count = 1;
  bool gpus = false;
};
std::optional<Replicas> replicas_of(const Benchmark& benchmark);

// "2 GPUs", "4 processes"
std::string replicas_text(std::int64_t count, bool gpus);

// Work of one device, or of one process where they have no devices of their own.
struct WorkPart {
  std::string name;  // "cuda:2", "process 3"
  std::string cpus;  // of its processes: "0-3; 8-11"
  std::int64_t completed = 0;
  Number per_s;  // its part of the case's throughput, by the requests that it completed
};
// In the order of devices; empty for a single process.
std::vector<WorkPart> work_parts(const CaseResult& one);

// The part that completed the fewest requests beside the median of the others, 1 being as many; over the
// repetitions of the case, with an interval that holds for all parts together. None where requests come by a
// schedule, which says nothing about speed.
struct SlowestReplica {
  std::size_t index = 0;  // in work_parts
  stats::ProcessEstimate of_others;
};
std::optional<SlowestReplica> slowest_replica(const CaseResult& one);

// Sets `scaling` of every measured inference case that differs in nothing but the number of GPUs or instances
// from one with fewer (methodology: instances). `resumed_utc`: when --resume continued the run.
void compare_replicas(const std::vector<CaseResult*>& cases,
                      const std::vector<std::string>& resumed_utc = {});

}  // namespace paceline::result
