// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

namespace paceline::config {

// As an engine: each model has its own. What a list of files of several kinds means where no engine is
// written.
inline constexpr std::string_view kEngineOfModel = "auto";

// The engine that a file is for; of built-in models and TorchScript files, eager.
std::string engine_of_model(const std::string& model);

}  // namespace paceline::config
