// SPDX-License-Identifier: MIT
// Lists CUDA devices, describes one, and reads the memory of its caching allocator.
#pragma once
#include <cstdint>
#include <string>

namespace paceline::cuda_plugin {

struct DeviceInfo {
  std::string name;
  int capability = 0;  // ten times major plus minor
  std::int64_t l2_bytes = 0;
};

// How many devices the driver shows to this process. Error(kUnavailable) with CUDA's words without any.
int count_devices();
DeviceInfo describe_device(int index);
// Equal on every host and in every process that sees the device; different for any other device.
std::string device_identity(int index);

// High-water marks of LibTorch's caching allocator on a device.
struct DeviceMemory {
  std::int64_t allocated_peak_bytes = 0;  // in tensors
  std::int64_t reserved_peak_bytes = 0;   // taken from the driver
};
void reset_memory_peak(int index);
DeviceMemory memory_peak(int index);

}  // namespace paceline::cuda_plugin
