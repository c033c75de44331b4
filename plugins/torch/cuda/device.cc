// SPDX-License-Identifier: MIT
#include "torch/cuda/device.h"

#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "torch/errors.h"

namespace paceline::cuda_plugin {
namespace {

constexpr std::size_t kAllPools = 0;  // its enumeration has moved between releases

}  // namespace

int device_index(const std::string& device, int count) {
  const auto index = device.starts_with("cuda:") ? parse_int(device.substr(5)) : std::nullopt;
  if (!index || *index < 0)
    throw Error(ErrorCode::kUsage, fmt::format("'{}' is no CUDA device; write cuda or cuda:1", device));
  if (*index < count) return static_cast<int>(*index);
  throw Error(ErrorCode::kUnavailable,
              fmt::format("there is no device {}; the driver shows {}: cuda:0{}", device, count,
                          count > 1 ? fmt::format(" to cuda:{}", count - 1) : ""));
}

int count_devices() {
  return torch_plugin::translate_errors(ErrorCode::kUnavailable, "no CUDA device",
                                        [] { return int{c10::cuda::device_count_ensure_non_zero()}; });
}

DeviceInfo describe_device(int index) {
  const auto& properties = *at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index));
  return {properties.name, properties.major * 10 + properties.minor,
          properties.l2CacheSize};
}

void reset_memory_peak(int index) {
  c10::cuda::CUDACachingAllocator::resetPeakStats(static_cast<c10::DeviceIndex>(index));
}

DeviceMemory memory_peak(int index) {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(static_cast<c10::DeviceIndex>(index));
  return {stats.allocated_bytes[kAllPools].peak, stats.reserved_bytes[kAllPools].peak};
}

}  // namespace paceline::cuda_plugin
