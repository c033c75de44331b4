// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/maybe.h"
#include "base/nvml_library.h"

// Reads what NVIDIA's driver reports about itself and its GPUs, through the management library (NVML) that
// comes with it. The library is opened and closed again; CUDA is not loaded, and no context is created.
namespace paceline::host {

struct NvidiaGpu {
  Maybe<std::string> name;        // NVIDIA H200
  Maybe<std::string> uuid;        // GPU-8a56a4bc-…
  Maybe<std::string> pci_bus_id;  // as in /sys/bus/pci/devices: 0000:1b:00.0
  Count memory_bytes;
  std::string lost{};  // why it does not answer any more: "GPU is lost"; empty: it answers
};

struct NvidiaDriver {
  Maybe<std::string> version;       // 580.65.06
  Maybe<std::string> cuda_version;  // the newest that it supports: 13.0
  std::vector<NvidiaGpu> gpus;      // by PCI address, also those that CUDA_VISIBLE_DEVICES hides
  std::string refusal{};  // why the driver, whose library is there, does not start or count; empty: it does
};

inline constexpr const char* kNvmlLibrary = nvml::kLibrary;

// Every value is missing with the reason where the library cannot be opened or refuses.
NvidiaDriver read_nvidia_driver(const std::string& library = kNvmlLibrary);

// Clock of a GPU, and what slows it.
struct GpuState {
  Number sm_mhz;
  Maybe<std::string> slowed_by;  // what keeps the clock down: "thermal slowdown"; empty: nothing does
};

// Keeps the library open, so that one look takes some ten microseconds.
class GpuSensor {
 public:
  explicit GpuSensor(const std::string& uuid, const std::string& library = kNvmlLibrary);
  ~GpuSensor();
  GpuSensor(const GpuSensor&) = delete;
  GpuSensor& operator=(const GpuSensor&) = delete;
  [[nodiscard]] GpuState now() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace paceline::host
