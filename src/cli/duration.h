// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

namespace paceline::cli {

// Reads "30s", "2m", "500ms" of a flag. Throws Error(kUsage) for what is none, or is longer than a day.
double seconds_of(std::string_view flag, const std::string& text);

}  // namespace paceline::cli
