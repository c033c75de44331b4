// SPDX-License-Identifier: MIT
// Whether the GPUs are sound: they answer, are cool, unhindered, and have whole memory and a ready fabric.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/maybe.h"
#include "host/checks/checks.h"
#include "host/machine/nvml.h"
#include "host/system_files.h"

namespace paceline::host {

// State of the registration with the NVSwitches, which the fabric manager arranges.
enum class Fabric { kNone, kNotStarted, kInProgress, kReady, kFailed };

// Every value is missing with the reason where the driver refuses it.
struct GpuHealth {
  Count celsius, limit_celsius;  // where it slows down
  Count margin_celsius;          // to that limit, as newer GPUs tell it
  Maybe<std::vector<std::string>> slowdowns;
  Count retired_pages, remapped_rows;
  Maybe<bool> retirement_pending, remapping_pending, remapping_failed;
  Maybe<Fabric> fabric;
};

// In the order of NvidiaDriver::gpus; without values for one that is lost.
std::vector<GpuHealth> read_gpu_health(const std::string& library = kNvmlLibrary);

// Rows of `validate`. A row is a SKIP with the reason where no GPU reports its figure.
CheckResult check_gpu_temperature(const SystemFiles& files, const std::string& library);
CheckResult check_gpu_slowdown(const SystemFiles& files, const std::string& library);
CheckResult check_gpu_memory(const SystemFiles& files, const std::string& library);
CheckResult check_gpu_fabric(const SystemFiles& files, const std::string& library);

// GPUs that answer, and those that do not: a FAIL, unless CUDA_VISIBLE_DEVICES hides them (`variable`).
CheckResult check_gpus(const SystemFiles& files, const std::string& library,
                       const nvml::Variable& variable = nvml::own_variable);

// Errors (Xid) that the driver wrote to the kernel's log since the machine started.
CheckResult check_gpu_errors(const SystemFiles& files);

}  // namespace paceline::host
