// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string_view>

namespace paceline {

// "50ms", "2s" or "800us" in seconds, "0" as well; none for other text.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace paceline
