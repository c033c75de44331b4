// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <vector>

#include "host/machine/gpu_locality.h"
#include "pass/pass.h"

namespace paceline::run {

// Lists per instance of a timed pass the CPUs on the NUMA node of its device; an empty list: any CPU.
// `places` is only asked for a pass on a device.
std::vector<std::vector<int>> cpus_near_instances(const pass::PassSpec& pass,
                                                  const std::function<host::GpuPlaces()>& places);

}  // namespace paceline::run
