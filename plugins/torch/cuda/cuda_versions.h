// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace paceline::cuda_plugin {

// LibTorch and the libraries of CUDA that it has loaded: runtime, cuDNN, cuBLASLt, NCCL, in the versions that
// they tell of themselves. One that is not loaded has no row. The driver's is in environment.json.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace paceline::cuda_plugin
