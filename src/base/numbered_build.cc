// SPDX-License-Identifier: MIT
#include "base/numbered_build.h"

#include <fmt/format.h>

namespace paceline {
namespace {

constexpr std::string_view kMark = ".build";

// Where the last extension of the name starts; the end when it has none.
std::size_t extension_at(std::string_view file) {
  const auto slash = file.rfind('/');
  const auto name = slash == std::string_view::npos ? 0 : slash + 1;
  const auto dot = file.rfind('.');
  return dot == std::string_view::npos || dot <= name ? file.size() : dot;
}

bool is_number_above_1(std::string_view digits) {
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos &&
         digits.front() != '0' && digits != "1";
}

}  // namespace

std::string numbered_build(std::string_view file, int number) {
  if (number <= 1) return std::string(file);
  const auto at = extension_at(file);
  return fmt::format("{}{}{}{}", file.substr(0, at), kMark, number, file.substr(at));
}

std::string first_build(std::string_view file) {
  for (const auto end : {file.size(), extension_at(file)}) {  // without an extension the number is last
    const auto stem = file.substr(0, end);
    const auto mark = stem.rfind(kMark);
    if (mark != std::string_view::npos && is_number_above_1(stem.substr(mark + kMark.size())))
      return fmt::format("{}{}", stem.substr(0, mark), file.substr(end));
  }
  return std::string(file);
}

}  // namespace paceline
