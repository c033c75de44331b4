// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/tensor.h"

// Writes what went into an inference and what came out of it, as files for other programs.
namespace paceline::workload {

// Writes inputs-<batch>.npz and outputs-<batch>.npz into `folder`, which is made where it is missing and
// loses earlier files of these names with batch 0: arrays under the tensors' names (output<i> where one has
// none), bfloat16 as float32, which NumPy has. Throws Error(kIo), and Error(kData) for an output that is no
// contiguous memory.
void dump_batch(const std::filesystem::path& folder, std::int64_t batch, std::span<const TensorView> inputs,
                std::span<const TensorView> outputs);

}  // namespace paceline::workload
