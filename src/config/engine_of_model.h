// SPDX-License-Identifier: MIT
// Tells which engine a model file implies.
#pragma once
#include <string>
#include <string_view>

namespace paceline::config {

// As an engine: each model gets the engine of its file. The default for a list of files of several kinds.
inline constexpr std::string_view kEngineOfModel = "auto";

// Alone in the list: every engine that takes one of the models.
inline constexpr std::string_view kEveryEngine = "all";

// The engine that a file is for; eager for built-in models and TorchScript files.
std::string engine_of_model(const std::string& model);

}  // namespace paceline::config
