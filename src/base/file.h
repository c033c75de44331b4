// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace paceline {

// Whole file as bytes. Throws Error(kIo) naming the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

// Writes beside the target, fsyncs, renames over it, fsyncs the folder: a reader sees the old file or the new
// one. A link is followed; a device or a pipe is written to as it is.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

// Appends and fsyncs.
void append_file(const std::filesystem::path& path, std::string_view content);

// Last `max_bytes` of a file, from a line start; empty when it does not exist.
std::string file_tail(const std::filesystem::path& path, std::size_t max_bytes);

// Creates the folder (and parents); Error(kIo) names what is in the way.
void make_directories(const std::filesystem::path& path);

// The running executable's folder.
std::filesystem::path executable_dir();

// $TMPDIR where it is a folder, else /tmp, else the current folder.
std::filesystem::path temp_dir();

// $XDG_CACHE_HOME/paceline or ~/.cache/paceline; not created.
std::filesystem::path cache_dir();

}  // namespace paceline
