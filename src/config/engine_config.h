// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "base/json.h"
#include "config/flags.h"

// Reads and writes the options of `paceline build` as a JSON file: the same names, the same values.
namespace paceline::config {

// The file's settings followed by those of the command line, which win. Shapes are text as on the command
// line, or {"input": [1, 3, 224, 224]}, or a list of such maps, one per profile, or [1, 3, 224, 224] of the
// input that `input_name` names, else of the only one. Keys of other tools mean
// what engine_config_words.h says, and null is an option that is not set. Mistakes are added to the problems
// of the result with file and key. Throws Error(kConfig) for text that is not a JSON object.
FlagSet with_engine_config(const FlagSet& flags, std::string_view json_text, const std::string& file);

nlohmann::json engine_config_schema();  // JSON Schema (2020-12)

}  // namespace paceline::config
