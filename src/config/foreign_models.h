// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace paceline::config {

// What a file or folder that no engine reads as a model is, and how its model gets here; empty: not known.
std::string foreign_model_advice(const std::string& path);

}  // namespace paceline::config
