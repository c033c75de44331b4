// SPDX-License-Identifier: MIT
// Parses JSON of others: at most kMostNested levels and kMostValues values, checked before anything is kept.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace paceline {

// Throws nlohmann::json::parse_error, also for text beyond the limits.
nlohmann::json parsed_json(std::string_view text);

// Returns a discarded value instead, for text that is no JSON or beyond the limits.
nlohmann::json json_or_discarded(std::string_view text);

// Throws nlohmann::json::type_error for a number that no 64 bits hold, whose conversion is undefined.
std::int64_t whole_number(const nlohmann::json& number);

}  // namespace paceline
