// SPDX-License-Identifier: MIT
// Parameters of a benchmark: all that tell cases apart, and those that mean more than that.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/fault.h"
#include "result/stored/case_result.h"

namespace paceline::result {

// Parameters that were found in the steps of a training of another program, and ask for nothing.
inline constexpr const char* kPipeline = "pipeline";         // its ranks exchange mostly in pairs
inline constexpr const char* kSharded = "sharded";           // its parameters are: FSDP, ZeRO
inline constexpr const char* kUnwrapped = "unwrapped";       // neither DDP nor FSDP exchanges for it
inline constexpr const char* kWithWaiting = "with_waiting";  // communication includes waiting for others

// Adds to `params` the parameters that have fields of their own, under the names of their options.
std::map<std::string, std::string> parameters_of(const Benchmark& benchmark);

// The device that `device: auto` stands for is part of the identity; the CPU is no parameter.
void set_device(Benchmark& benchmark, std::string_view device);

// How many instances share a GPU.
std::int64_t instances_per_gpu(const Benchmark& benchmark);
// The GPU at this place among those of the case.
std::int64_t gpu_at(const Benchmark& benchmark, std::int64_t place);

// The gap between inferences as it was written; empty: none was.
std::string gap_text(const Benchmark& benchmark);
// Seconds that the process slept before each inference; 0 without a gap.
double gap_s(const Benchmark& benchmark);

Benchmark without_gap(Benchmark benchmark);

// The benchmark as runs compare it: without its id and what was found in steps, with recorded times instead
// of the file that has them.
Benchmark identity_of(Benchmark benchmark);

// Returns one benchmark whatever the number of threads of an instance.
Benchmark without_threads_per_instance(Benchmark benchmark);

// None also for a text that this version cannot read.
std::optional<Fault> fault_of(const Benchmark& benchmark);

}  // namespace paceline::result
