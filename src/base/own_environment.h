// SPDX-License-Identifier: MIT
// The environment variables of this process.
#pragma once
#include <map>
#include <string>

namespace paceline {

using Environment = std::map<std::string, std::string>;

Environment own_environment();

}  // namespace paceline
