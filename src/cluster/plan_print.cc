// SPDX-License-Identifier: MIT
#include "cluster/plan_print.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"

namespace paceline::cluster {
namespace {

constexpr std::size_t kCharacters = 4;

std::string print_of_line(const std::string& line) {
  return sha256_hex(line).substr(0, kCharacters);
}

// The keys that lead to the last of these lines.
std::string key_of_last(const std::vector<std::string>& lines, std::size_t last) {
  std::string key;
  auto indent = std::string::npos;
  for (std::size_t i = last + 1; i-- > 0;) {
    const auto begin = lines[i].find_first_not_of(' ');
    if (begin == std::string::npos || begin >= indent) continue;
    indent = begin;
    const auto name = lines[i].substr(begin, lines[i].find_first_of(": ", begin) - begin);
    key = key.empty() ? name : name + "." + key;
    if (indent == 0) break;
  }
  return key;
}

}  // namespace

std::string plan_print(const std::string& plan) {
  std::string print;
  for (const auto& line : split(plan, '\n')) print += print_of_line(line);
  return print;
}

std::string first_difference(const std::string& plan, const std::string& print) {
  const auto lines = split(plan, '\n');
  for (std::size_t i = 0; i < lines.size() && !print.empty(); ++i)
    if (std::string_view(print).substr(std::min(print.size(), i * kCharacters), kCharacters) !=
        print_of_line(lines[i]))
      return key_of_last(lines, i);
  return {};
}

}  // namespace paceline::cluster
