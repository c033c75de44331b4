// SPDX-License-Identifier: MIT
// How requests arrive in a timed pass: scenario, lanes, instances, rate and limits.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/scenario.h"

namespace paceline::pass {

// How work arrives in a timed pass. Everything below `instance` is for the server.
struct LoadSpec {
  Scenario scenario = Scenario::kSync;
  std::int64_t concurrency = 1;  // lanes, one engine each
  std::int64_t instances = 1;    // processes that share one queue, `concurrency` lanes each
  std::int64_t instance = -1;    // in one of them: which
  // Instance i is on device i / this, or on that one of `devices`; 0: all on the one named, or the CPU.
  std::int64_t instances_per_device = 0;
  std::vector<int> devices;
  double rate_per_s = 0;  // requests; 0: `share` of the saturation rate, which is measured first
  double share = 0;
  std::string arrival = "poisson";
  std::string schedule_file;  // a recorded schedule in its place; empty: none
  std::uint64_t arrival_seed = 0;
  double t_min_s = 60, t_max_s = 600;  // of the schedule; its length is what p99 needs, between these
  double timeout_s = 0;                // a request that waited longer is not served; 0: none
  std::int64_t max_requests = 0;       // of a capacity search
  std::int64_t max_batch = 1;          // requests per inference, for which engines are loaded
  double batch_timeout_s = 0;          // how long a request may wait for others
  double slo_p = 0, slo_bound_s = 0;   // 0: no objective
  // The number of the device that an instance is on, where they are on devices of their own.
  [[nodiscard]] int device_of(std::int64_t index) const {
    const auto place = index / instances_per_device;
    return devices.empty() ? static_cast<int>(place) : devices.at(static_cast<std::size_t>(place));
  }
  [[nodiscard]] std::int64_t lanes() const { return instances * concurrency; }
  // An objective without a rate asks for the highest rate that holds it; a recorded schedule has a rate.
  [[nodiscard]] bool searches() const {
    return slo_p > 0 && rate_per_s <= 0 && share <= 0 && schedule_file.empty();
  }
};

}  // namespace paceline::pass
