// SPDX-License-Identifier: MIT
#include "cli/compare/profile_sides.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "base/display_text.h"
#include "base/error.h"
#include "cli/compare/stored_sides.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

std::string_view words_of(const ProfileSource* source) {
  return source ? source->words : "a run";
}

}  // namespace

const ProfileSource* common_source(const std::vector<std::string>& names) {
  if (names.empty()) return nullptr;
  const auto* const first = profile_source(names.front());
  for (std::size_t i = 1; i < names.size(); ++i)
    if (const auto* const other = profile_source(names[i]); other != first)
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} is {} and {} is {}; compare sides of one kind", shown_path(names.front()),
                              words_of(first), shown_path(names[i]), words_of(other)));
  return first;
}

std::vector<compare::Profile> profile_sides(const ProfileSource& source,
                                            const std::vector<std::string>& names) {
  require_sides(names);
  std::vector<compare::Profile> sides;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::error_code unknown;
    for (std::size_t k = 0; k < i; ++k)
      if (fs::equivalent(names[k], names[i], unknown))
        throw Error(ErrorCode::kUsage, fmt::format("{} and {} are the same, {}; name two", side_name(k),
                                                   side_name(i), shown_path(names[i])));
    sides.push_back(source.side({side_name(i), shown_path(names[i])}, names[i]));
  }
  return sides;
}

}  // namespace paceline::cli
