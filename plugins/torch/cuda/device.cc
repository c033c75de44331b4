// SPDX-License-Identifier: MIT
#include "torch/cuda/device.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "torch/errors.h"

namespace paceline::cuda_plugin {
namespace {

constexpr std::size_t kAllPools = 0;  // the enumeration of pools has moved between releases

// Structures of the runtime's interface change between major releases: this plug-in would read LibTorch's
// fields in wrong places.
void check_runtime() {
  int loaded = 0;
  if (::cudaRuntimeGetVersion(&loaded) != cudaSuccess || loaded / 1000 == CUDART_VERSION / 1000) return;
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format(
          "this plug-in was built for CUDA {}, but LibTorch has loaded CUDA {}; use a build for this PyTorch",
          CUDART_VERSION / 1000, loaded / 1000));
}

}  // namespace

int count_devices() {
  check_runtime();
  return torch_plugin::translate_errors(ErrorCode::kUnavailable, "no CUDA device",
                                        [] { return int{c10::cuda::device_count_ensure_non_zero()}; });
}

DeviceInfo describe_device(int index) {
  const auto& properties = *at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index));
  return {properties.name, properties.major * 10 + properties.minor, properties.l2CacheSize};
}

std::string device_identity(int index) {
  const auto& uuid = at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index))->uuid;
  std::string text = "GPU-";
  for (const char byte : uuid.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// The allocator knows no device before LibTorch's CUDA part is initialised, which may not have happened yet.
void reset_memory_peak(int index) {
  at::globalContext().lazyInitDevice(at::kCUDA);
  c10::cuda::CUDACachingAllocator::resetPeakStats(static_cast<c10::DeviceIndex>(index));
}

DeviceMemory memory_peak(int index) {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(static_cast<c10::DeviceIndex>(index));
  return {stats.allocated_bytes[kAllPools].peak, stats.reserved_bytes[kAllPools].peak};
}

}  // namespace paceline::cuda_plugin
