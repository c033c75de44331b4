// SPDX-License-Identifier: MIT
// The memory that a case needs: that of the device it ran on, else resident memory of its process. Pure.
#pragma once
#include "result/stored/case_result.h"

namespace paceline::result {

// Whether the case ran on an accelerator.
bool on_device(const Benchmark& benchmark);

// The most that tensors held of the device; of a case on the CPU, peak resident memory above its state before
// load.
Count peak_memory(const Benchmark& benchmark, const Memory& memory);
// For an engine that does not report it, the driver's figure of the fullest device.
Count peak_memory(const CaseResult& one);
// Whether it is the driver's figure, which includes contexts and memory of other processes.
bool is_drivers_memory(const CaseResult& one);

}  // namespace paceline::result
