// SPDX-License-Identifier: MIT
// What a device did in the timed windows of a case. Formulas: docs/metrics.md, devices.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "result/maybe.h"
#include "result/stored/device_slowdown.h"
#include "result/stored/sampled.h"
#include "result/stored/sampled_energy.h"

namespace paceline::result {

inline constexpr std::string_view kDeviceSampler = "nvml";  // whose metrics these are
inline constexpr std::string_view kBoardEnergy = "GPU board, whole window";

// One device over all windows of a case; every reading weighs alike.
struct DeviceState {
  std::int64_t rank = 0;      // whose process read it
  std::string device;         // cuda:0
  bool of_rank = false;       // the rank read the clock itself, and `device` names the rank; not stored
  std::int64_t readings = 0;  // of its clock
  Number sm_clock_mean_mhz, sm_clock_min_mhz;
  Number sm_clock_cv;  // standard deviation over mean
  Number memory_clock_mean_mhz;
  Number power_mean_w, power_max_w;
  Number idle_power_w;  // before the first worker of the run
  Number temperature_max_c;
  Number utilization_mean;      // share of the time in which a kernel ran, as the driver says
  Count memory_used_max_bytes;  // as the driver says: of all processes
  Count other_processes;        // most at once
  bool slowdown_read = false;   // the reasons for a lower clock were read
  std::vector<DeviceSlowdown> slowdowns;
  Number energy_j, energy_window_s;  // by the board's counter, and over how long
  Number energy_per_item_j;          // energy_j over the items of the case done meanwhile
  Number energy_above_idle_per_item_j;
  std::string energy_scope;  // kBoardEnergy; empty: no energy
};

// `idle`: windows before the first worker of the run.
std::vector<DeviceState> summarize_devices(const std::vector<SampledWindow>& windows,
                                           const ItemsInWindow& items,
                                           const std::vector<SampledWindow>& idle);

}  // namespace paceline::result
