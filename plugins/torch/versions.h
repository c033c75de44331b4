// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace paceline::torch_plugin {

// Versions of LibTorch as loaded and of what it uses: BLAS, oneDNN, OpenMP, instruction set of its kernels.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace paceline::torch_plugin
