// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

// Reads files that somebody else wrote, once and up to a limit.
namespace paceline {

inline constexpr std::uint64_t kMaxStreamBytes = 64ULL << 20;  // for a pipe, unless the use allows less
inline constexpr std::uint64_t kMaxFileBytes = 16ULL << 30;    // for a regular file, likewise

// The whole content of a regular file, a pipe or a terminal. Throws Error(kIo) for a folder, a device, more
// than `max_bytes`, and a pipe that has no writer within five seconds.
std::string read_limited(const std::filesystem::path& path, std::uint64_t max_bytes);

// The same for standard input.
std::string read_standard_input(std::uint64_t max_bytes);

// Throws Error(kIo) unless the path, after links, is a regular file, which can be mapped or read in pieces.
void check_regular_file(const std::filesystem::path& path);

}  // namespace paceline
