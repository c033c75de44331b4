// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace paceline::config {

// Recognises files and folders that no engine reads, and says how such a model gets here; empty: not known.
std::string foreign_model_advice(const std::string& path);

}  // namespace paceline::config
