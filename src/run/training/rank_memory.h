// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "config/plan.h"
#include "host/machine/memory.h"

// Whether the ranks of a training case can fit into this machine's memory at all, or on its devices. Pure.
namespace paceline::run {

// Least memory of a rank, in bytes.
struct RankMemory {
  double process = 0;  // with the library, on the host
  double state = 0;    // parameters, gradients, the optimizer's state and DDP's buckets, all in float32
  double data = 0;     // inputs of the batches that its loader holds; on a device: of one micro-batch
  double activations =
      0;  // on a device: Model::live_numbers of a micro-batch, in the smallest type they may have
  [[nodiscard]] double bytes() const { return process + state + data + activations; }
};
RankMemory least_memory(const config::Case& c);  // on the CPU; activations come on top
RankMemory least_device_memory(const config::Case& c);

// The GPUs that this machine shows. What fits on none of them is refused: which of them a rank gets is its
// launcher's choice.
struct RankDevices {
  int count = 0;  // 0: not known
  Count bytes{};  // of the largest; missing: not known
};
// Why `ranks` on this machine cannot fit on its devices; empty: they may.
std::string device_shortage(const config::Case& c, std::int64_t ranks, const RankDevices& devices);
// "at least 2.30 GB on each device (parameters, gradients and optimizer state 307 MB, …)"
std::string device_memory_words(const config::Case& c, const RankDevices& devices);

// In words; empty where there is nothing to say, or the system does not tell its memory.
struct MemoryVerdict {
  std::string refusal;  // more than the machine, or the control group, has in all
  std::string warning;  // more than is free now
};
// `ranks`: on this machine.
MemoryVerdict judge_memory(const config::Case& c, std::int64_t ranks, const host::MemoryInfo& memory);

}  // namespace paceline::run
