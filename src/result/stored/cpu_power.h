// SPDX-License-Identifier: MIT
// Power of a host's CPUs in the timed windows of a case. Formulas: docs/metrics.md, CPU power.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/maybe.h"
#include "result/stored/sampled_energy.h"

namespace paceline::result {

inline constexpr std::string_view kCpuSampler = "rapl";  // whose metrics these are
inline constexpr std::string_view kCpuPackages = "package", kCpuMemory = "dram";

// The packages of one host together, or their memory, over all windows of a case.
struct CpuPower {
  std::int64_t rank = 0;  // whose process read it
  std::string part;       // kCpuPackages or kCpuMemory
  std::string scope;      // in words: which packages, and whose energy it is
  Number power_mean_w;
  Number power_max_w;   // between two readings
  Number idle_power_w;  // before the first worker of the run
  Number energy_j, energy_window_s;
  Number energy_per_item_j, energy_above_idle_per_item_j;
};

// `idle`: windows before the first worker of the run.
std::vector<CpuPower> summarize_cpu_power(const std::vector<SampledWindow>& windows,
                                          const ItemsInWindow& items, const std::vector<SampledWindow>& idle);

}  // namespace paceline::result
