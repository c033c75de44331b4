// SPDX-License-Identifier: MIT
#include "host/gpu_locality.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace paceline::host {
namespace {

std::string word(const GpuPlaces& places, const char* name) {
  return places.variable ? places.variable(name).value_or("") : "";
}

// By default CUDA puts the fastest GPU first, so that indices of unlike GPUs do not tell their place here.
bool counts_by_address(const GpuPlaces& places) {
  const auto& gpus = places.driver.gpus;
  return word(places, "CUDA_DEVICE_ORDER") == "PCI_BUS_ID" ||
         std::all_of(gpus.begin(), gpus.end(),
                     [&](const NvidiaGpu& gpu) { return gpu.name == gpus.front().name; });
}

const NvidiaGpu* gpu_at(const GpuPlaces& places, long long index) {
  const auto& gpus = places.driver.gpus;
  if (index < 0 || index >= std::ssize(gpus) || !counts_by_address(places)) return nullptr;
  return &gpus[static_cast<std::size_t>(index)];
}

// Finds the GPU of an entry of CUDA_VISIBLE_DEVICES: an index, or the beginning of a UUID.
const NvidiaGpu* gpu_named(const GpuPlaces& places, const std::string& entry) {
  if (const auto index = parse_int(entry)) return gpu_at(places, *index);
  for (const auto& gpu : places.driver.gpus)
    if (!entry.empty() && gpu.uuid && gpu.uuid.value()->starts_with(entry)) return &gpu;
  return nullptr;
}

// All devices that this process sees, in CUDA's order; null where the GPU is not known.
std::vector<const NvidiaGpu*> visible_gpus(const GpuPlaces& places) {
  std::vector<const NvidiaGpu*> seen;
  const auto visible = places.variable ? places.variable("CUDA_VISIBLE_DEVICES") : std::nullopt;
  if (visible)
    for (const auto& entry : split(*visible, ','))
      seen.push_back(gpu_named(places, std::string(trim(entry))));
  else
    for (long long i = 0; i < std::ssize(places.driver.gpus); ++i) seen.push_back(gpu_at(places, i));
  return seen;
}

const NvidiaGpu* visible_gpu(const GpuPlaces& places, int index) {
  const auto seen = visible_gpus(places);
  return index < 0 || index >= std::ssize(seen) ? nullptr : seen[static_cast<std::size_t>(index)];
}

std::vector<int> cpus_near(const SystemFiles& files, const NvidiaGpu* gpu) {
  if (!gpu || !gpu->pci_bus_id) return {};
  return parse_cpu_list(
      files.read_trimmed("sys/bus/pci/devices/" + *gpu->pci_bus_id + "/local_cpulist").value_or(""));
}

}  // namespace

GpuPlaces gpu_places() {
  return {read_nvidia_driver(), SystemFiles{}, [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            return value ? std::optional<std::string>(value) : std::nullopt;
          }};
}

int visible_device_count(const GpuPlaces& places) {
  return static_cast<int>(visible_gpus(places).size());
}

std::string uuid_of_device(const GpuPlaces& places, int index) {
  const auto* gpu = visible_gpu(places, index);
  return gpu && gpu->uuid ? *gpu->uuid : std::string();
}

NvidiaGpu gpu_at_index(const GpuPlaces& places, int index) {
  const auto* gpu = visible_gpu(places, index);
  return gpu ? *gpu : NvidiaGpu{};
}

std::vector<int> cpus_near_device(const GpuPlaces& places, int index) {
  return cpus_near(places.files, visible_gpu(places, index));
}

std::vector<int> cpus_near_rank(const GpuPlaces& places, int local_rank) {
  const int count = visible_device_count(places);
  return count > 0 ? cpus_near_device(places, local_rank % count) : std::vector<int>{};
}

}  // namespace paceline::host
