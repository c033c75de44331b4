// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Maps keys of other tools' engine configurations to the options that they mean.
namespace paceline::config {

// An option with its value as in a configuration of `paceline build`.
struct EngineConfigEntry {
  std::string option;
  nlohmann::json value;
};

// Translates a key that is not an option: {"workspace_mb": 4096} is the option workspace with "4096M". Empty
// where the value asks for nothing ("fp16": false, "dla_core": -1); none where the key is not known. A value
// that does not fit the key is left for the option to refuse.
std::optional<std::vector<EngineConfigEntry>> translated_entry(std::string_view key,
                                                               const nlohmann::json& value);

}  // namespace paceline::config
