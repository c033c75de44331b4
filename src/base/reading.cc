// SPDX-License-Identifier: MIT
#include "base/reading.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/display_text.h"

namespace paceline {
namespace fs = std::filesystem;
namespace {

constexpr int kWriterWaitMs = 5000;

[[noreturn]] void refuse(const std::string& name, std::string_view why) {
  throw Error(ErrorCode::kIo, fmt::format("cannot read '{}': {}", shown_path(name), why));
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >= 1ULL << 30) return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1ULL << 30));
  return fmt::format("{:.3g} MiB", static_cast<double>(bytes) / (1ULL << 20));
}

bool is_null_device(const struct stat& info) {
  return major(info.st_rdev) == 1 && minor(info.st_rdev) == 3;
}

bool is_stream(const struct stat& info) {
  return S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || S_ISCHR(info.st_mode);
}

struct stat status_of(int fd, const std::string& name) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) refuse(name, std::strerror(errno));
  return info;
}

// Refuses files without an end or without content before the first byte.
void check_kind(int fd, const struct stat& info, const std::string& name) {
  if (S_ISDIR(info.st_mode)) refuse(name, std::strerror(EISDIR));
  const bool device = S_ISBLK(info.st_mode) || (S_ISCHR(info.st_mode) && !is_null_device(info));
  if (device && ::isatty(fd) == 0) refuse(name, "it is a device; name a file or a pipe");
}

// A named pipe, unlike a pipe of a shell, which has its writer from the beginning.
bool is_named_pipe(int fd, const struct stat& info) {
  constexpr decltype(std::declval<struct statfs>().f_type) kUnnamed = 0x50495045;  // PIPEFS_MAGIC
  struct statfs system {};
  return S_ISFIFO(info.st_mode) && ::fstatfs(fd, &system) == 0 && system.f_type != kUnnamed;
}

// A named pipe without a writer is neither empty nor at its end.
void wait_for_writer(int fd, const std::string& name) {
  pollfd waiting{fd, POLLIN, 0};
  const int ready = ::poll(&waiting, 1, kWriterWaitMs);
  if (ready == 0) refuse(name, "it is a pipe, and nobody has written to it for five seconds");
  if (ready < 0) refuse(name, std::strerror(errno));
}

std::string read_to_end(int fd, bool stream, std::uint64_t max_bytes, const std::string& name) {
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR && !stream) continue;
    if (n < 0) refuse(name, errno == EINTR ? "interrupted" : std::strerror(errno));
    if (n == 0) return content;
    content.append(buffer, static_cast<std::size_t>(n));
    if (content.size() > max_bytes)
      refuse(name, fmt::format("it is larger than {}, the most that is read here", size_text(max_bytes)));
  }
}

std::string read_descriptor(int fd, std::uint64_t max_bytes, const std::string& name) {
  const auto info = status_of(fd, name);
  check_kind(fd, info, name);
  const bool stream = is_stream(info);
  const auto most = stream ? std::min(max_bytes, kMaxStreamBytes) : max_bytes;
  if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) > most)
    refuse(name, fmt::format("it has {}, and at most {} are read here",
                             size_text(static_cast<std::uint64_t>(info.st_size)), size_text(most)));
  return read_to_end(fd, stream, most, name);
}

}  // namespace

std::string read_limited(const fs::path& path, std::uint64_t max_bytes) {
  const std::string name = path.string();
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) refuse(name, std::strerror(errno));
  if (is_named_pipe(fd.get(), status_of(fd.get(), name))) wait_for_writer(fd.get(), name);
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  return read_descriptor(fd.get(), max_bytes, name);
}

std::string read_standard_input(std::uint64_t max_bytes) {
  return read_descriptor(STDIN_FILENO, max_bytes, "standard input");
}

namespace {

void check_regular(const struct stat& info, const std::string& name) {
  if (S_ISDIR(info.st_mode)) refuse(name, std::strerror(EISDIR));
  if (!S_ISREG(info.st_mode)) refuse(name, "it is a device or a pipe; name a file");
}

}  // namespace

bool is_missing(const fs::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) != 0 && errno == ENOENT;
}

Refusal no_regular_file(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return errno == ENOENT ? "does not exist; check the path"
                           : fmt::format("cannot be read: {}", std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return "is a folder; name a file";
  if (!S_ISREG(info.st_mode)) return "is a device or a pipe; name a file";
  return std::nullopt;
}

void check_regular_file(const fs::path& path) {
  static_cast<void>(open_regular_file(path));
}

// The file may become another one between the two looks; opening a device can do something to it.
FileDescriptor open_regular_file(const fs::path& path) {
  const std::string name = path.string();
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) refuse(name, std::strerror(errno));
  check_regular(info, name);
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) refuse(name, std::strerror(errno));
  check_regular(status_of(fd.get(), name), name);
  return fd;
}

std::string read_regular_file(const fs::path& path, std::uint64_t max_bytes) {
  const auto fd = open_regular_file(path);
  return read_descriptor(fd.get(), max_bytes, path.string());
}

Error io_error(const fs::filesystem_error& error) {
  return {ErrorCode::kIo,
          fmt::format("cannot use '{}': {}", shown_path(error.path1().string()), error.code().message())};
}

}  // namespace paceline
