// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace paceline::cuda_plugin {

// Versions of LibTorch and of the CUDA libraries that it has loaded, as these report them: runtime, cuDNN,
// cuBLASLt, NCCL. A library that is not loaded has no row. The driver's version is in environment.json.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace paceline::cuda_plugin
