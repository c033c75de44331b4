// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace paceline::config {

std::string options_markdown();     // docs/reference/options.md
nlohmann::json plan_json_schema();  // JSON Schema (2020-12) of a plan file

}  // namespace paceline::config
