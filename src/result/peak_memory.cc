// SPDX-License-Identifier: MIT
#include "result/peak_memory.h"

#include "base/device.h"

namespace paceline::result {

bool on_device(const Benchmark& benchmark) {
  const auto device = benchmark.params.find("device");
  const bool named = device != benchmark.params.end() && !is_cpu(device->second);
  return named || benchmark.engine == "tensorrt";  // it has no other device
}

Count peak_memory(const Benchmark& benchmark, const Memory& memory) {
  return on_device(benchmark) ? memory.tensor_peak_bytes : memory.rss_peak_above_load_bytes;
}

}  // namespace paceline::result
