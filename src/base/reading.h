// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

// Files that somebody else wrote: they are read once, and no longer than a limit.
namespace paceline {

inline constexpr std::uint64_t kMaxStreamBytes = 64ULL << 20;  // of a pipe, unless the use allows less
inline constexpr std::uint64_t kMaxFileBytes = 16ULL << 30;    // of a regular file, likewise

// Whole content of a regular file, of a pipe or of a terminal. Throws Error(kIo) for a folder, for a device,
// for more than `max_bytes`, and for a pipe that nobody opens for writing within five seconds.
std::string read_limited(const std::filesystem::path& path, std::uint64_t max_bytes);

// The same of standard input.
std::string read_standard_input(std::uint64_t max_bytes);

// Throws Error(kIo) unless the path, after its links, is a regular file: what is mapped or read in pieces.
void check_regular_file(const std::filesystem::path& path);

}  // namespace paceline
