// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/display_text.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/reading.h"

namespace paceline {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(std::string_view what, const fs::path& path) {
  throw Error(ErrorCode::kIo,
              fmt::format("cannot {} '{}': {}", what, shown_path(path.string()), std::strerror(errno)));
}

[[noreturn]] void strange(const fs::path& path) {
  throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': it is a link, a pipe or a device; remove it",
                                          shown_path(path.string())));
}

void write_all(const FileDescriptor& fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd.get(), content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
}

void write_and_sync(const FileDescriptor& fd, std::string_view content, const fs::path& path) {
  write_all(fd, content, path);
  if (::fsync(fd.get()) != 0 && errno != EINVAL) fail("write", path);
}

void sync_folder(const fs::path& folder) {
  const FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

// A device or a pipe (/dev/null, /dev/stdout), which renaming a file over it would destroy.
bool is_device(const fs::path& path) {
  std::error_code ignored;
  const auto type = fs::status(path, ignored).type();
  return type == fs::file_type::character || type == fs::file_type::block || type == fs::file_type::fifo ||
         type == fs::file_type::socket;
}

// Resolves dangling links, too.
fs::path end_of_links(const fs::path& given) {
  constexpr int kMost = 40;  // as the kernel
  fs::path path = given;
  std::error_code error;
  for (int links = 0; fs::is_symlink(path, error); ++links) {
    errno = ELOOP;
    if (links == kMost) fail("write", given);
    path = path.parent_path() / fs::read_symlink(path, error);  // an absolute target replaces the folder
  }
  return path;
}

// Opening a pipe that nobody reads would wait for ever.
FileDescriptor open_device(const fs::path& path) {
  constexpr std::chrono::milliseconds kStep{20};
  constexpr int kSteps = 250;
  for (int step = 0;; ++step) {
    FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd) return fd;
    if (errno != ENXIO) fail("write", path);
    if (step == kSteps)
      throw Error(ErrorCode::kIo,
                  fmt::format("cannot write '{}': it is a pipe, and nobody has read from it for "
                              "five seconds",
                              shown_path(path.string())));
    std::this_thread::sleep_for(kStep);
  }
}

void write_in_place(const fs::path& path, std::string_view content) {
  const auto fd = open_device(path);
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  write_and_sync(fd, content, path);
}

}  // namespace

std::string read_file(const fs::path& path) {
  return read_limited(path, kMaxFileBytes);
}

void write_file_atomic(const fs::path& path, std::string_view content) {
  is_device(path) ? write_in_place(path, content) : replace_file(end_of_links(path), content);
}

void replace_file(const fs::path& path, std::string_view content) {
  if (is_device(path) && !fs::is_symlink(path) && !fs::is_fifo(path)) strange(path);
  const fs::path part = unfinished_file(path);
  try {
    const FileDescriptor fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!fd) fail("write", path);
    write_and_sync(fd, content, path);
  } catch (...) {
    ::unlink(part.c_str());
    throw;
  }
  if (::rename(part.c_str(), path.c_str()) != 0) {
    const int saved = errno;
    ::unlink(part.c_str());
    errno = saved;
    fail("write", path);
  }
  sync_folder(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

void check_own_name(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) strange(path);
}

FileDescriptor open_own_file(const fs::path& path, int flags) {
  check_own_name(path);
  FileDescriptor fd(
      ::open(path.c_str(), flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644));
  if (!fd) fail("write", path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) strange(path);
  return fd;
}

fs::path unfinished_file(const fs::path& path) {
  const auto ending = fmt::format(".part{}", ::getpid());
  const auto name = path.filename().string().substr(0, NAME_MAX - ending.size()) + ending;
  const auto part = path.parent_path() / name;
  ::unlink(part.c_str());  // of a process that died and had our number
  return part;
}

void append_file(const fs::path& path, std::string_view content) {
  write_all(open_own_file(path, O_WRONLY | O_APPEND), content, path);
}

std::string file_tail(const fs::path& path, std::size_t max_bytes) {
  if (no_regular_file(path)) return {};
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return {};
  const auto size = static_cast<std::size_t>(info.st_size);
  const std::size_t begin = size > max_bytes ? size - max_bytes : 0;
  std::string tail(size - begin, '\0');
  const ssize_t n = ::pread(fd.get(), tail.data(), tail.size(), static_cast<off_t>(begin));
  tail.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  if (begin > 0) tail.erase(0, tail.find('\n') + 1);
  return tail;
}

void make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  std::error_code unknown;
  if (error || !fs::is_directory(path, unknown))
    throw Error(ErrorCode::kIo, fmt::format("cannot create folder '{}': {}; choose another with --output-dir",
                                            shown_path(path.string()),
                                            error ? error.message() : "a file of that name is in the way"));
}

fs::path executable_dir() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

fs::path temp_dir() {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (error) folder = "/tmp";
  return fs::is_directory(folder, error) ? folder : fs::current_path();
}

namespace {

// Whether the folder belongs to this user and is closed to others; a link does not count.
bool is_private_folder(const fs::path& folder) {
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// Anyone can create a folder below /tmp, so one that is not ours is not used; this process keeps its own.
fs::path private_temp_cache() {
  const fs::path shared = temp_dir() / fmt::format("paceline-cache-{}", ::geteuid());
  ::mkdir(shared.c_str(), S_IRWXU);
  if (is_private_folder(shared)) return shared;
  static const fs::path own = [] {
    std::string name = (temp_dir() / "paceline-cache-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(ErrorCode::kIo, fmt::format("cannot make a cache folder below '{}'; set XDG_CACHE_HOME",
                                              temp_dir().string()));
    return fs::path(name);
  }();
  return own;
}

}  // namespace

fs::path cache_dir() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return fs::path(xdg) / "paceline";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "paceline";
  return private_temp_cache();
}

}  // namespace paceline
