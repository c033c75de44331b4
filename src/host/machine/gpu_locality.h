// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/machine/nvml.h"
#include "host/system_files.h"

// Finds the CPUs on the NUMA node of a GPU: launches and copies from another node take longer.
namespace paceline::host {

// Where the answer comes from; replaced in tests.
struct GpuPlaces {
  NvidiaDriver driver;
  SystemFiles files{};
  std::function<std::optional<std::string>(const std::string&)> variable;  // reads an environment variable
};

// For this machine.
GpuPlaces gpu_places();

// How many devices CUDA shows this process; 0: not known.
int visible_device_count(const GpuPlaces& places);

// The UUID of device `index` as CUDA counts in this process; empty where it is not known.
std::string uuid_of_device(const GpuPlaces& places, int index);

// Device `index` as CUDA counts in this process; without values where it is not known.
NvidiaGpu gpu_at_index(const GpuPlaces& places, int index);

// The CPUs near device `index` as CUDA counts in this process (CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER), from
// /sys. Empty where they are not known, so that no CPU is preferred.
std::vector<int> cpus_near_device(const GpuPlaces& places, int index);

// Ranks take the devices of their host in order.
std::vector<int> cpus_near_rank(const GpuPlaces& places, int local_rank);

}  // namespace paceline::host
