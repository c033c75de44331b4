// SPDX-License-Identifier: MIT
// Parses JSON of others: at most kMostNested levels and kMostValues values, checked before anything is kept.
#pragma once
#include <string_view>

#include "base/json.h"

namespace paceline {

// Throws nlohmann::json::parse_error, also for text beyond the limits.
nlohmann::json parsed_json(std::string_view text);

// Returns a discarded value instead, for text that is no JSON or beyond the limits.
nlohmann::json json_or_discarded(std::string_view text);

}  // namespace paceline
