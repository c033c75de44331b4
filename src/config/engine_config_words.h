// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Keys of other tools' engine configurations, and the options that they mean.
namespace paceline::config {

// An option with its value, as the configuration of `paceline build` has it.
struct EngineConfigEntry {
  std::string option;
  nlohmann::json value;
};

// What a key means that is no option: {"workspace_mb": 4096} is the option workspace with "4096M". Empty
// where the value says that nothing is asked for: "fp16": false, "dla_core": -1. None: the key is not known.
// A value that its key cannot have is left for the option to refuse.
std::optional<std::vector<EngineConfigEntry>> translated_entry(std::string_view key,
                                                               const nlohmann::json& value);

}  // namespace paceline::config
