// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "config/plan.h"
#include "host/memory.h"

// Whether the ranks of a training case can fit into this machine's memory at all. Pure.
namespace paceline::run {

// What a rank on the CPU holds at least, in bytes; activations come on top.
struct RankMemory {
  double process = 0;  // with the library
  double state = 0;    // parameters, gradients, the optimizer's state and DDP's buckets, all in float32
  double data = 0;     // inputs of the batches that its loader holds
  [[nodiscard]] double bytes() const { return process + state + data; }
};
RankMemory least_memory(const config::Case& c);

// In words; empty where there is nothing to say, or the system does not tell its memory.
struct MemoryVerdict {
  std::string refusal;  // more than the machine, or the control group, has in all
  std::string warning;  // more than is free now
};
// `ranks`: on this machine.
MemoryVerdict judge_memory(const config::Case& c, std::int64_t ranks, const host::MemoryInfo& memory);

}  // namespace paceline::run
