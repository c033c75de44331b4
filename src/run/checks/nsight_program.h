// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>

namespace paceline::run {

// A program of NVIDIA's on the PATH, else where toolkits are installed; empty: nowhere.
std::filesystem::path find_nsight(const std::string& program);

}  // namespace paceline::run
