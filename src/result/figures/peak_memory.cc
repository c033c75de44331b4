// SPDX-License-Identifier: MIT
#include "result/figures/peak_memory.h"

#include <algorithm>

namespace paceline::result {

bool on_device(const Benchmark& benchmark) {
  return !benchmark.device.empty() || benchmark.engine == "tensorrt";  // it has no other device
}

Count peak_memory(const Benchmark& benchmark, const Memory& memory) {
  return on_device(benchmark) ? memory.tensor_peak_bytes : memory.rss_peak_above_load_bytes;
}

Count peak_memory(const CaseResult& one) {
  auto peak = peak_memory(one.benchmark, one.memory);
  if (!is_drivers_memory(one)) return peak;
  for (const auto& state : one.devices)
    if (state.memory_used_max_bytes && (!peak || *state.memory_used_max_bytes > *peak))
      peak = state.memory_used_max_bytes;
  return peak;
}

bool is_drivers_memory(const CaseResult& one) {
  return on_device(one.benchmark) && !one.memory.tensor_peak_bytes &&
         std::ranges::any_of(one.devices, [](const auto& d) { return bool(d.memory_used_max_bytes); });
}

}  // namespace paceline::result
