// SPDX-License-Identifier: MIT
// Reads files, writes them atomically, and finds folders: of the executable, of the cache.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "base/handle.h"

namespace paceline {

// Reads a whole file as bytes. Throws Error(kIo) naming the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

// Writes a temporary file beside the target, fsyncs, renames it, and fsyncs the folder: a reader sees the old
// file or the new one. For names that the user gave: a link is followed; a device, or a pipe that gets a
// reader within five seconds, is written directly.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

// Writes under a name that the program chose: it replaces a link or a pipe, which may have been put there to
// lead the content elsewhere. Error(kIo) for a device.
void replace_file(const std::filesystem::path& path, std::string_view content);

// Throws Error(kIo) if a link, a pipe or a device takes a name that the program chose.
void check_own_name(const std::filesystem::path& path);

// Opens a file under such a name, with O_CREAT and these flags; throws likewise, and never waits.
FileDescriptor open_own_file(const std::filesystem::path& path, int flags);

// Appends to a file under a name that the program chose.
void append_file(const std::filesystem::path& path, std::string_view content);

// The name under which a file is written before it gets its own, beside it; nothing is left there.
std::filesystem::path unfinished_file(const std::filesystem::path& path);

// The last `max_bytes` of a file, from the start of a line; empty when it does not exist.
std::string file_tail(const std::filesystem::path& path, std::size_t max_bytes);

// Creates the folder and its parents; Error(kIo) names what is in the way.
void make_directories(const std::filesystem::path& path);

// The folder of the running executable.
std::filesystem::path executable_dir();

// $TMPDIR if it is a folder, else /tmp, else the current folder.
std::filesystem::path temp_dir();

// $XDG_CACHE_HOME/paceline or ~/.cache/paceline; it is not created.
std::filesystem::path cache_dir();

}  // namespace paceline
