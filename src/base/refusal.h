// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

namespace paceline {

// Why something cannot be done, in words; none where it can.
using Refusal = std::optional<std::string>;

}  // namespace paceline
