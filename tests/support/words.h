// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "base/error.h"

// Words in texts.
namespace paceline::test {

inline bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

inline void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const auto* word : words) EXPECT_TRUE(says(text, word)) << text.substr(0, 4000) << "\nlacks: " << word;
}

// The words of the error that `f` throws.
template <typename F>
std::string reason(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace paceline::test
