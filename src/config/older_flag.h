// SPDX-License-Identifier: MIT
// A flag or a value of another tool, and what it means here.
#pragma once
#include <string_view>

namespace paceline::config {

enum class Support {
  kHint,   // unknown here: the message says what to type
  kTaken,  // accepted as typed
  kOther,  // accepted, with another meaning here
};

inline constexpr std::string_view kAnyValue = "*";  // of `agrees`: whatever is typed, or a switch

struct OlderFlag {
  std::string_view tool;
  std::string_view flag;
  std::string_view here;
  unsigned command;  // whose options `here` is one of
  Support support = Support::kHint;
  std::string_view agrees{};  // values that ask for what is done here anyway, comma-separated: they are taken
};

// A value of an option in another tool, and its name here.
struct OlderValue {
  std::string_view option, value, here;
  bool taken = false;  // accepted as typed; else the message says what to type
};

}  // namespace paceline::config
