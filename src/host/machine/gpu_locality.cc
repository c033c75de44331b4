// SPDX-License-Identifier: MIT
#include "host/machine/gpu_locality.h"

#include "base/nvml_library.h"

namespace paceline::host {
namespace {

std::vector<nvml::VisibleGpu> visible_gpus(const GpuPlaces& places) {
  std::vector<nvml::GpuName> listed;
  for (const auto& gpu : places.driver.gpus)
    listed.push_back({gpu.name.value().value_or(""), gpu.uuid.value().value_or("")});
  return nvml::visible_gpus(listed, places.variable);
}

// Null where it is not known, or a part of a GPU.
const NvidiaGpu* visible_gpu(const GpuPlaces& places, int index) {
  const auto seen = visible_gpus(places);
  if (index < 0 || index >= std::ssize(seen)) return nullptr;
  const auto place = seen[static_cast<std::size_t>(index)].place;
  return place ? &places.driver.gpus[*place] : nullptr;
}

std::vector<int> cpus_near(const SystemFiles& files, const NvidiaGpu* gpu) {
  if (!gpu || !gpu->pci_bus_id) return {};
  return parse_cpu_list(
      files.read_trimmed("sys/bus/pci/devices/" + *gpu->pci_bus_id + "/local_cpulist").value_or(""));
}

}  // namespace

GpuPlaces gpu_places() {
  return {read_nvidia_driver(), SystemFiles{}, nvml::own_variable};
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
