// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answer/verdict.h"
#include "base/maybe.h"

// How work arrived in the scenarios other than sync, and what came of it (methodology: load scenarios).
namespace paceline::result {

// How many requests were served in inferences with `size` requests each.
struct BatchSize {
  std::int64_t size = 0, requests = 0;
};

// One part of a request's latency. The means of all stages add up to the mean latency.
struct Stage {
  std::string name;  // queue | input | compute | output
  Number mean_ns, p50_ns, p99_ns;
};

// "The p-quantile of latency is at most this long", judged on every request, lost ones included.
struct SloResult {
  double p = 0.99;
  double bound_ns = 0;
  double confidence = 0.99;  // one-sided
  std::int64_t over = 0;     // requests above the bound or never complete
  std::int64_t n_eff = 0;    // number of independent requests that they are worth
  std::int64_t over_eff = 0;
  Number offered_per_s;  // by the schedule of the process whose verdict this is
  answer::ExpectationVerdict verdict;
  std::string detail;  // in words, with what would decide a cannot_say
};

// One run of a capacity search.
struct CapacityTrial {
  double rate_per_s = 0;
  std::int64_t requests = 0;  // after the warm-up part
  std::int64_t over = 0;      // above the objective
  bool long_run = false;      // one of those that confirm a rate
  bool issued_late = false;   // the harness issued requests late: a miss proves nothing, "met" still holds
  answer::ExpectationVerdict verdict;
};
inline constexpr const char* kNoSearch = "no search was asked for";
// The limit lies between the two rates; without the second, it is at least the first.
struct Capacity {
  Number per_s = Number::missing(kNoSearch);         // highest rate that was seen to hold
  Number missed_per_s = Number::missing(kNoSearch);  // lowest higher rate that missed
  std::string stopped;  // what kept the search from narrowing the limit further, in words; empty: nothing
  std::vector<CapacityTrial> trials;  // in the order in which they ran
};

// One process of several that share a queue: what it claimed, and what became of it.
struct InstanceLoad {
  std::int64_t index = 0;
  std::string cpus;  // the CPUs it is pinned to, as a list: "0,2"
  // claimed = completed + timed_out + unfinished + failed; the warm-up part of a server's schedule counts
  std::int64_t claimed = 0, completed = 0, timed_out = 0, unfinished = 0, failed = 0;
  std::string died;  // in words; empty: it survived
};

// A recorded schedule, and how much of it was replayed.
struct Replay {
  std::string file, format, unit;  // as read: "CSV, column timestamp_ms", "ms"
  std::int64_t times = 0;          // in the file
  std::int64_t replayed = 0;       // the first of them
  double speed = 1;                // recorded time per time of the replay
};

struct Load {
  std::int64_t concurrency = 1;         // lanes that work side by side, over all instances
  std::vector<InstanceLoad> instances;  // empty: the lanes are threads of one process
  Number saturation_per_s;              // requests/s of the closed loop before the run
  // server: requests that come by a schedule
  std::string arrival;           // poisson | constant | recorded; empty: not a server
  std::optional<Replay> replay;  // of a recorded one
  std::int64_t arrival_seed = 0;
  std::int64_t max_batch = 1;
  double batch_timeout_ns = 0;         // how long a request may wait for others to share its batch
  std::string batching;                // dynamic, or padded and why; empty: one request at a time
  std::vector<BatchSize> batch_sizes;  // ascending, after the warm-up part
  Number mean_batch = Number::missing("no batching");  // requests per inference
  Number offered_per_s;  // by the schedules: requests of all processes over their time
  Number completed_per_s;
  Number utilization;  // offered_per_s / saturation_per_s of the process where it is highest
  std::int64_t offered = 0, completed = 0, timed_out = 0, unfinished = 0,
               failed = 0;           // after the warm-up part
  std::int64_t warmup_requests = 0;  // the first of the schedule: in the samples, but in no statistic
  Number completed_frac;
  Number issue_delay_p50_ns, issue_delay_p99_ns, issue_delay_max_ns;  // how late a free lane noticed requests
  Number issue_delay_limit_ns;
  Number backlog_slope_frac;  // growth of the backlog as a share of the arrival rate
  Number in_flight;       // closed loop: time average while all lanes were in use; should equal concurrency
  Count requests_needed;  // of one process, for p99
  std::int64_t requests = 0;  // of the shortest process, after the warm-up part
  std::vector<Stage> stages;
  std::optional<SloResult> slo;
  Capacity capacity;
  std::vector<std::string> invalid;  // why the latencies are not valid, in words
};

}  // namespace paceline::result
