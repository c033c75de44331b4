// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

namespace paceline::cli {

// Reads "30s", "2m", "500ms" of a flag. Throws Error(kUsage) for an invalid one, or more than a day.
double seconds_of(std::string_view flag, const std::string& text);

// "20 min" of a time, in whole units.
std::string rough_time(double seconds);
// "1–3 min", "40 s–2 min": one digit per end, rounded outwards; "about 20 min" where both ends are nearly
// equal.
std::string rough_range(double low_s, double high_s);

}  // namespace paceline::cli
