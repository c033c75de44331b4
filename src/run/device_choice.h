// SPDX-License-Identifier: MIT
// Resolves device: auto on this machine, and says for every case where it runs and why.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "config/plan.h"
#include "host/machine/gpu_locality.h"
#include "run/case/plugin_choice.h"

namespace paceline::run {

// The GPUs of this machine as a choice sees them; replaced in tests.
struct GpusHere {
  std::string absent;  // why none can be used; empty: there is one
  std::string name;    // of the first; empty: unknown
  int count = 0;       // visible to this process; 0: unknown
  // Why a plug-in cannot use them, in one sentence; empty: it can. It is asked once per file.
  std::function<std::string(const std::filesystem::path&)> refusal;
  int cpus = 0;             // that this process may use; 0: unknown
  bool cpu_energy = false;  // the energy counters of the CPUs can be read
};

// `absent` follows from signs of the driver and from `places`, which is only read where there are signs.
GpusHere gpus_here(const host::SystemFiles& files, const std::function<host::GpuPlaces()>& places);
// Asks this machine. A plug-in is asked in a worker process: it loads, and makes a small inference on the
// GPU.
GpusHere gpus_here(const std::atomic<bool>& interrupt);

// Replaces device: auto of inference cases by the GPU where one can be used, else by the CPU, and fills in
// Case::where. A case has no baseline on another device. Ranks keep auto, since each process of a launch may
// see other devices: Case::gpu_refusal says why theirs is the CPU although there is a GPU. Samplers
// watch the cases where there is something to read (watch). Processes on devices have the same number of
// threads with every number of devices: as many as the largest number leaves to each.
void settle_devices(std::vector<config::Case>& cases, const EngineDirectory& engines, const GpusHere& here);

// Why the devices that a case asks for by gpus or devices are not all here; empty: they are, or it is not
// known.
std::string missing_devices(const config::Case& c, const GpusHere& here);

// Where the cases run, a line for each different answer: "cpu: no NVIDIA GPU here (…)".
std::vector<std::string> device_lines(const std::vector<config::Case>& cases);

}  // namespace paceline::run
