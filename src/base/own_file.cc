// SPDX-License-Identifier: MIT
#include "base/own_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/display_text.h"

namespace paceline {
namespace fs = std::filesystem;
namespace {

// Where the sticky bit is set, as on /tmp, nobody else can replace a file.
bool any_user_writes(const struct stat& info) {
  return (info.st_mode & S_IWOTH) != 0 && !(S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0);
}

Refusal why_foreign(const fs::path& path, std::string_view what) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};  // who reads it says what is wrong
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return fmt::format("{} belongs to another user (number {})", what, info.st_uid);
  if (any_user_writes(info)) return fmt::format("every user can write {}", what);
  return std::nullopt;
}

// Whoever may rename a folder on the way can put another in its place.
Refusal why_replaceable(const fs::path& folder) {
  for (auto above = folder; above.has_relative_path(); above = above.parent_path()) {
    struct stat info {};
    if (::stat(above.c_str(), &info) == 0 && any_user_writes(info))
      return fmt::format("every user can write the folder '{}' above it", shown_path(above.string()));
  }
  return {};
}

}  // namespace

Refusal why_foreign(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return {};
  if (S_ISFIFO(info.st_mode)) return why_foreign(file, "the pipe");
  if (!S_ISREG(info.st_mode)) return {};
  std::error_code unknown;
  const auto target = fs::canonical(file, unknown);
  if (unknown) return {};
  if (auto why = why_foreign(target, "the file")) return why;
  const auto folder = target.parent_path();
  if (auto why = why_foreign(folder, fmt::format("its folder '{}'", shown_path(folder.string())))) return why;
  return why_replaceable(folder.parent_path());
}

}  // namespace paceline
