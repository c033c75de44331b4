// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "workload/inference/gate/compared_rows.h"

// Reads what the user says is right: outputs from files.
namespace paceline::workload {

// Reads the expected outputs of the first `samples` inputs from FILE.npy, the first array of FILE.npz, or
// NAME:FILE.npz, thinned like outputs of `samples_planned` samples. Throws Error(kData) naming the file, what
// it holds and what is needed; Error(kIo) where it cannot be read.
ComparedRows read_expected_outputs(const std::string& file, std::int64_t samples,
                                   std::int64_t samples_planned);

}  // namespace paceline::workload
