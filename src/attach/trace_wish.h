// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>

// Asks running ranks to trace steps, through the headers of their step files.
namespace paceline::attach {

// The largest count of steps among the ranks that noted no end; 0: there is none, or none can be read.
std::uint64_t newest_clock(const std::filesystem::path& folder);

struct TraceWish {
  std::uint64_t number = 1;  // of the trace: its folder is trace-<number>
  std::uint64_t after = 0;   // count of steps behind which it begins
  std::uint64_t steps = 0;
};

// Asks the newest start of each rank, and returns how many were asked. 0 if some file cannot be written.
std::int64_t ask_for_trace(const std::filesystem::path& folder, const TraceWish& wish);

}  // namespace paceline::attach
