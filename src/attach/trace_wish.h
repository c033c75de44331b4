// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>

// Asks running ranks to trace steps, through the headers of their step files.
namespace paceline::attach {

// The largest count of steps among the ranks; 0: there is no step file, or none can be read.
std::uint64_t newest_clock(const std::filesystem::path& folder);

// Lets all ranks trace this number of steps behind the count `after`. False if some file cannot be written:
// then none traces.
bool ask_for_trace(const std::filesystem::path& folder, std::uint64_t after, std::uint64_t steps);

}  // namespace paceline::attach
