// SPDX-License-Identifier: MIT
// Whether one inference of a case can fit into memory at all, known before its inputs are made.
#pragma once
#include <functional>
#include <string>

#include "config/plan.h"
#include "host/machine/memory.h"
#include "host/machine/nvml.h"
#include "run/case/case_run.h"

namespace paceline::run {

// Lower bounds in bytes: what is not known counts as 0.
struct InferenceMemory {
  double inputs = 0;
  double weights = 0;
  double activations = 0;  // of built-in models in LibTorch, from Model::live_numbers
  [[nodiscard]] double bytes() const { return inputs + weights + activations; }
};
InferenceMemory least_inference_memory(const config::Case& c);

// This machine's memory; replaced in tests.
struct MemoryHere {
  host::MemoryInfo host;
  std::function<host::NvidiaGpu(int index)> gpu;  // as CUDA counts in this process
};
MemoryHere memory_here();

// Memory of a process of the case, with ample room: engines unpack weights, a check has a reference and
// copies of the file.
double ample_bytes(const CaseRun& c);

// Whether processes that check a case fit beside the one that has measured it, with ample room.
bool leaves_room_beside(const CaseRun& c, const MemoryHere& here);

// Why an inference of the case cannot fit, with what it needs and what there is; empty: it may, or the sizes
// are not known.
std::string memory_obstacle(const config::Case& c, const MemoryHere& here);

}  // namespace paceline::run
