// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/handle.h"
#include "base/refusal.h"

// Reads files that somebody else wrote, once and up to a limit.
namespace paceline {

inline constexpr std::uint64_t kMaxStreamBytes = 64ULL << 20;  // for a pipe, unless the use allows less
inline constexpr std::uint64_t kMaxFileBytes = 16ULL << 30;    // for a regular file, likewise

// The whole content of a regular file, a pipe or a terminal. Throws Error(kIo) for a folder, a device, more
// than `max_bytes`, and a pipe that has no writer within five seconds.
std::string read_limited(const std::filesystem::path& path, std::uint64_t max_bytes);

// Reads standard input, with the same limit.
std::string read_standard_input(std::uint64_t max_bytes);

// Why the path, after links, is no regular file, in words that follow its name: "does not exist", "is a
// folder". None: it is one.
Refusal no_regular_file(const std::filesystem::path& path);
// Nothing is at the path, after links: a name like it may be meant.
bool is_missing(const std::filesystem::path& path);

// Throws Error(kIo) unless the path, after links, is a regular file, which can be mapped or read in pieces.
void check_regular_file(const std::filesystem::path& path);

// Opens such a file for reading; throws likewise. Never waits for the writer of a pipe.
FileDescriptor open_regular_file(const std::filesystem::path& path);

// The whole content of a file of ours, such as one of a run folder, where a pipe or a device has no place.
std::string read_regular_file(const std::filesystem::path& path, std::uint64_t max_bytes = kMaxFileBytes);

// Converts an error about an unusable path (too long a name, links in a circle).
Error io_error(const std::filesystem::filesystem_error& error);

}  // namespace paceline
