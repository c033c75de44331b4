// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

// Scales and rounds numbers for people; no other place does. Files keep the plain units. What would need more
// than 15 digits before the point, or zeros behind it, is written as 1.00e+308.
namespace paceline {

std::string format_duration_ns(double ns);  // "54.1 ms", "812 ns", "1.21 s"
// "53.0–55.2 ms": an interval in the unit that the figure `like` has.
std::string format_duration_range_ns(double low, double high, double like);
std::string format_ms(double ns);            // "54.1": three significant digits; the column gives the unit
std::string format_bytes(double bytes);      // "312 MB" (10^6)
std::string format_count(double average);    // "53", "0.67"
std::string format_rate(double per_second);  // "18.5", "1 204"
std::string plural(std::int64_t count, std::string_view noun);  // "1 rank", "2 ranks"
std::string format_percent(double fraction, int digits = 1);    // 0.061 -> "6.1 %"
std::string format_significant(double value, int digits = 3);
std::string format_fixed(double value, int decimals);  // 1.5, 2 -> "1.50"
std::string format_time_left(double seconds);          // "2 m 52 s"
std::string format_utc(std::int64_t unix_seconds);     // "2026-11-21T01:45:00Z"

}  // namespace paceline
