// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

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

// "calib_cache" for "calib_cache_path"; another key as it is.
std::string_view without_place_ending(std::string_view key);

// The message for a key that is not taken.
struct EngineConfigAnswer {
  std::string key, message;
};

// Resolves keys that say something only together with others, and removes them: {"use_dla": false} of a core,
// and {"max_batch_size": 32}, which agrees with the largest shapes or is answered.
std::vector<EngineConfigAnswer> settle_switches(nlohmann::json& root);

}  // namespace paceline::config
