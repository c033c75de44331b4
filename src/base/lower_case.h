// SPDX-License-Identifier: MIT
#pragma once
#include <cctype>
#include <string>

namespace paceline {

// Lowers the case of names and words of ASCII letters.
inline std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace paceline
