// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace paceline::torch_plugin {

// LibTorch as loaded and what it stands on: BLAS, oneDNN, OpenMP, the instruction set its kernels use here.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace paceline::torch_plugin
