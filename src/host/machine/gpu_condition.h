// SPDX-License-Identifier: MIT
// Settings and users of each GPU before anything is measured: what makes results slow or uneven.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/maybe.h"
#include "host/machine/nvml.h"

namespace paceline::host {

// Every value is missing with the reason where the driver refuses it.
struct GpuCondition {
  Number power_limit_w, default_power_limit_w;
  Number max_sm_mhz, application_sm_mhz, default_application_sm_mhz;
  Maybe<bool> ecc;
  Count uncorrected_errors;                    // of its memory, since the driver was loaded
  Count pcie_generation, max_pcie_generation;  // a GPU that idles is on an older one
  Count pcie_width, max_pcie_width;
  Maybe<bool> mig, persistence;
  Count processes;  // of others that compute on it and are visible here
  Count memory_used_bytes;
};

// In the order of NvidiaDriver::gpus; none where the library cannot be opened.
std::vector<GpuCondition> read_gpu_conditions(const std::string& library = kNvmlLibrary);

struct GpuProblem {
  std::string text, fix;
};
// Lists problems of GPU `index`, as nvidia-smi counts.
std::vector<GpuProblem> problems_of(const GpuCondition& gpu, std::size_t index);

// "700 W, up to 1980 MHz, ECC on, PCIe x16", as far as it is known.
std::string in_words(const GpuCondition& gpu);

}  // namespace paceline::host
