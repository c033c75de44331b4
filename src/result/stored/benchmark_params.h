// SPDX-License-Identifier: MIT
// Parameters of a benchmark that mean more than that cases differ: the only place that knows their keys.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault.h"
#include "result/stored/case_result.h"

namespace paceline::result {

// The device as it was asked for ("cuda", "cuda:1", of ranks "cuda"); none on the CPU.
std::optional<std::string> device_of(const Benchmark& benchmark);
// The device that `device: auto` stands for is part of the identity; the CPU is no parameter.
void set_device(Benchmark& benchmark, std::string_view device);

// The numbers that a case asks for; none where it asks for none.
std::optional<std::int64_t> gpus_of(const Benchmark& benchmark);
std::optional<std::int64_t> instances_of(const Benchmark& benchmark);
// How many instances share a GPU.
std::int64_t instances_per_gpu(const Benchmark& benchmark);
// The GPU at this place among those of the case.
std::int64_t gpu_at(const Benchmark& benchmark, std::int64_t place);

// Returns one benchmark whatever the number of GPUs, of instances, or of threads of an instance.
Benchmark without_gpus(Benchmark benchmark);
Benchmark without_instances(Benchmark benchmark);
Benchmark without_threads_per_instance(Benchmark benchmark);

// The fault as it was written ("slow=200ms:rank=1"); empty: none was injected.
std::string fault_text(const Benchmark& benchmark);
// None also for a text that this version cannot read.
std::optional<Fault> fault_of(const Benchmark& benchmark);

}  // namespace paceline::result
