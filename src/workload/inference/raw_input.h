// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/tensor.h"

// Inputs as files of bare numbers, as trtexec, benchmark_app and numpy's tofile() have them.
namespace paceline::workload {

// Whether a file is read so: .bin, .raw and .dat, unless it begins as a .npy or .npz does.
bool is_raw_file(const std::filesystem::path& file);

// One sample of an input, in the model's layout, is as many bytes as type and shape say; the file holds whole
// ones, an input without a batch exactly one. `spec` is as in InputRequest. Throws Error(kData) with both
// numbers of bytes.
Tensor read_raw_input(const std::filesystem::path& file, const TensorSpec& spec, std::int64_t batch_dimension,
                      const std::string& origin);

}  // namespace paceline::workload
