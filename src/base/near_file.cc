// SPDX-License-Identifier: MIT
#include "base/near_file.h"

#include <fmt/format.h>

#include <system_error>
#include <vector>

#include "base/display_text.h"
#include "base/text.h"

namespace paceline {

std::string near_file(const std::filesystem::path& path) {
  constexpr int kMostEntries = 10'000;  // of a folder that is looked through for a hint
  const auto folder = path.parent_path();
  std::vector<std::string> names, all;
  std::error_code error;
  int seen = 0;
  for (auto it = std::filesystem::directory_iterator(folder.empty() ? "." : folder, error);
       !error && it != std::filesystem::directory_iterator() && ++seen <= kMostEntries; it.increment(error)) {
    const auto& name = it->path().filename();
    std::error_code unread;
    if (!it->is_regular_file(unread)) continue;
    all.push_back(name);
    if (name.extension() == path.extension()) names.push_back(name.stem());
  }
  auto near = nearest_name(path.stem().string(), names);
  if (near) *near += path.extension().string();
  if (!near) near = nearest_name(path.filename().string(), all);
  if (!near) return "";
  return fmt::format("; did you mean '{}'?", shown_value((folder / *near).string()));
}

}  // namespace paceline
