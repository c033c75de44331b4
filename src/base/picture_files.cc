// SPDX-License-Identifier: MIT
#include "base/picture_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/lower_case.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 3> kPictures{".jpg", ".jpeg", ".png"};
constexpr const char *kHidden = "hidden", *kNoSuffix = "without a suffix", *kNoFile = "no file";

std::string kind_of(const fs::path& file) {
  const auto suffix = lower_case(file.extension().string());
  return is_hidden(file) ? kHidden : suffix.empty() ? kNoSuffix : suffix;
}

bool is_picture_kind(const std::string& kind) {
  return std::ranges::find(kPictures, kind) != kPictures.end();
}

bool is_picture(const fs::path& file) {
  return is_picture_kind(kind_of(file));
}

void take(const fs::directory_entry& entry, bool is_folder, PictureFiles& found) {
  std::error_code ignored;
  const auto& path = entry.path();
  if (is_folder) {
    if (is_hidden(path)) found.left_out.folders.push_back(path.filename().string());
    return;
  }
  const auto kind = entry.is_other(ignored) ? kNoFile : kind_of(path);
  if (!is_picture_kind(kind))
    ++found.left_out.files[kind];
  else
    found.files.push_back(path);
}

}  // namespace

void LeftOut::add(const LeftOut& other) {
  for (const auto& [kind, count] : other.files) files[kind] += count;
  folders.insert(folders.end(), other.folders.begin(), other.folders.end());
}

std::string LeftOut::words() const {
  constexpr std::size_t kMostFolders = 3;
  std::vector<std::string> parts;
  for (const auto& [kind, count] : files)
    parts.push_back(kind == kHidden ? plural(count, "hidden file")
                    : kind == kNoFile
                        ? fmt::format("{} {}", count, count == 1 ? "pipe or device" : "pipes or devices")
                    : kind == kNoSuffix ? plural(count, "file") + " " + kind
                                        : fmt::format("{} {}", count, kind));
  auto names = folders;
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() > kMostFolders) names.resize(kMostFolders), names.emplace_back("…");
  if (!names.empty())
    parts.push_back(fmt::format("{} ({})", plural(std::ssize(folders), "hidden folder"), join(names, ", ")));
  return join(parts, ", ");
}

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

PictureFiles pictures_in(const fs::path& folder, bool below, std::error_code& error) {
  PictureFiles found;
  for (fs::recursive_directory_iterator at(folder, error); !error && at != fs::recursive_directory_iterator();
       at.increment(error)) {
    std::error_code broken;  // a link that leads nowhere
    const bool is_folder = at->is_directory(broken);
    take(*at, is_folder, found);
    if (is_folder && (!below || is_hidden(at->path()))) at.disable_recursion_pending();
  }
  std::ranges::sort(found.files);
  return found;
}

PictureFolders picture_folders(const fs::path& root) {
  std::error_code ignored;
  if (fs::is_directory(root / "train", ignored))
    for (const auto* name : {"val", "test"})
      if (fs::is_directory(root / name, ignored)) return {root / "train", root / name};
  return {root, {}};
}

std::int64_t count_pictures_of_classes(const fs::path& folder) {
  std::int64_t count = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error); !error && at != fs::recursive_directory_iterator();
       at.increment(error)) {
    std::error_code broken;
    const bool is_folder = at->is_directory(broken);
    if (is_folder && is_hidden(at->path())) at.disable_recursion_pending();
    if (!is_folder && at.depth() > 0 && is_picture(at->path())) ++count;
  }
  return error ? 0 : count;
}

}  // namespace paceline
