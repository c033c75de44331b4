// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// Reads recorded schedules: when the requests of a service arrived.
namespace paceline {

inline constexpr std::size_t kMostArrivals = 10'000'000;  // of one schedule

struct ArrivalFile {
  std::string format;           // "text", "CSV, column timestamp_ms" or "JSON lines"
  std::string unit;             // of its times: "s", "ms", "us", "ns", or "date" for date and time
  std::vector<double> seconds;  // after the first time; ascending
  [[nodiscard]] double length_s() const { return seconds.back(); }
  [[nodiscard]] double rate_per_s() const { return static_cast<double>(seconds.size() - 1) / length_s(); }
};

// One time per line in seconds, a CSV with a column of times, or JSON lines with a timestamp in ms each, by
// content. Throws Error(kData), with the line and its value, unless there are at least two different times,
// in order.
ArrivalFile read_arrivals(const std::filesystem::path& file);

// Number of the first times that are due within the limit: as recorded, or (`rate_per_s` above 0) scaled so
// that they come at that mean rate.
std::size_t due_within(const ArrivalFile& file, double limit_s, double rate_per_s = 0);

// 16 digits of SHA-256, equal for times that are equal to a microsecond, whatever format and unit they had.
// For a rate that is asked for (`scaled`), for times that are equal to a thousandth of their mean gap at one
// rate.
std::string times_digest(const ArrivalFile& file, bool scaled);

// Reads the text of such a file, which messages call `name`.
ArrivalFile parse_arrivals(std::string_view text, std::string_view name);

}  // namespace paceline
