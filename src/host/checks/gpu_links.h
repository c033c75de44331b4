// SPDX-License-Identifier: MIT
// How the GPUs of a machine reach each other: over NVLink, over PCIe, or only through the host's memory.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "host/checks/fact_rules.h"
#include "host/machine/nvml.h"
#include "host/system_files.h"

namespace paceline::host {

enum class PairPath { kNvlink, kPcie, kHost, kUnknown };

struct GpuPair {
  std::size_t first, second;  // as nvidia-smi counts
  PairPath path;
};

struct GpuLinks {
  std::vector<int> active;     // NVLinks of each GPU that are up
  std::vector<GpuPair> pairs;  // each once
};

GpuLinks read_gpu_links(const std::string& library = kNvmlLibrary);

// "all pairs over NVLink, 18 links each"; "pairs 0-1, 2-3 over NVLink, the others only over PCIe".
std::string in_words(const GpuLinks& links);

CheckResult check_gpu_links(const SystemFiles& files, const std::string& library);

// Fact for comparing machines: these words, or why there are none.
Fact gpu_links_fact(const SystemFiles& files = SystemFiles(), const std::string& library = kNvmlLibrary);

}  // namespace paceline::host
