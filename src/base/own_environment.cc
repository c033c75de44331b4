// SPDX-License-Identifier: MIT
#include "base/own_environment.h"

#include <string_view>

extern char** environ;

namespace paceline {

Environment own_environment() {
  Environment environment;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos)
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

}  // namespace paceline
