// SPDX-License-Identifier: MIT
// Writes the options as Markdown and JSON Schema, from the rows.
#pragma once
#include <string>

#include "base/json.h"
#include "config/option_table.h"

namespace paceline::config {

std::string options_markdown();                      // docs/reference/options.md
nlohmann::json plan_json_schema();                   // JSON Schema (2020-12) of a plan file
nlohmann::json option_schema(const Option& option);  // of one value
nlohmann::json or_null(nlohmann::json one);          // allows null, with which an option is not set

}  // namespace paceline::config
