// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/arrival_file.h"
#include "measure/open_loop.h"
#include "pass/pass.h"
#include "result/stored/load.h"
#include "result/stored/samples.h"

// Prepares and closes a server run around its open loop: its length, and its requests as samples.
namespace paceline::workload {

struct ServerPlan {
  double saturation_per_s = 0;  // requests per second
  double rate_per_s = 0;
  std::int64_t requests = 0;              // all that are scheduled
  std::int64_t warmup_requests = 0;       // the first of them
  std::optional<std::int64_t> needed;     // counted requests for p99; missing at or above saturation
  std::vector<std::int64_t> recorded_ns;  // the schedule, where it is not drawn
  std::optional<result::Replay> replay;   // where the recorded one comes from
  [[nodiscard]] double load() const { return rate_per_s / saturation_per_s; }
  [[nodiscard]] double seconds() const { return static_cast<double>(requests) / rate_per_s; }
};

// The length that p99 needs, within t_min and t_max of the schedule, or the number asked for.
ServerPlan plan_server(const pass::PassSpec& spec, double saturation_per_s);

// A recorded schedule at its own mean rate or scaled to the one asked for, up to t_max or the number asked
// for.
ServerPlan plan_replay(const pass::PassSpec& spec, double saturation_per_s, const ArrivalFile& file);

// A run of `counted` requests after the warm-up part, at a rate of its own.
ServerPlan plan_trial(double saturation_per_s, double rate_per_s, std::int64_t counted);

// "16 000 requests at 50.0/s, load 0.50 of 100/s, take 5 min 20 s; p99 needs 14 400", shown before the run.
std::string in_words(const ServerPlan& plan);

// Each trial of a search has its own schedule.
measure::OpenLoopConfig open_loop_config(const pass::PassSpec& spec, const ServerPlan& plan,
                                         std::uint64_t trial = 0);

// The requests that were offered; an interrupted run leaves out those that were not.
std::vector<result::Sample> server_samples(const pass::PassSpec& spec, const ServerPlan& plan,
                                           const std::vector<measure::Request>& requests);
result::Load server_load(const pass::PassSpec& spec, const ServerPlan& plan);
double median_service_ns(const std::vector<result::Sample>& samples);

}  // namespace paceline::workload
