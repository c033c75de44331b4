// SPDX-License-Identifier: MIT
// Reads YAML with the place of every value, bounded in depth and size.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"

namespace paceline::config {

// A YAML value with its place. Aliases are expanded within bounds, at the place of the alias.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  Place place{};
  std::string
      text{};  // of a scalar, as written; "null" of a value that was written so, empty of a missing one
  bool quoted = false;
  std::vector<YamlNode> keys{};   // of a map, in file order, duplicates kept
  std::vector<YamlNode> items{};  // of a list, or the values of a map
};

// Parses one document. Throws ConfigErrors with one diagnostic: syntax error, empty, too large, nested too
// deep, an alias inside its own anchor, aliases that multiply without end. Built from yaml-cpp's events,
// because its nodes hide the place of an alias.
YamlNode parse_yaml(std::string_view text, const std::string& source);

}  // namespace paceline::config
