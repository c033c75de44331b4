// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

// Reads what the user says the answers are.
namespace paceline::run {

// One integer per line, or an integer .npy of one dimension. Throws Error(kData), and host::OutOfMemory
// before it reads labels that do not fit.
std::vector<std::int64_t> read_labels(const std::string& file);

}  // namespace paceline::run
