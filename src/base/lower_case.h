// SPDX-License-Identifier: MIT
#pragma once
#include <string>

// Letters and digits of ASCII. Those of <cctype> follow the locale, which any library may set.
namespace paceline {

constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr char upper_case(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

constexpr bool is_letter_or_digit(char c) {
  const char lower = lower_case(c);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

// Lowers the case of names and words.
inline std::string lower_case(std::string text) {
  for (char& c : text) c = lower_case(c);
  return text;
}

}  // namespace paceline
