// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace paceline::analysis::traces {

// A decimal number of µs as ns: exact where it has three decimals, else rounded. A double would lose the ns
// of times since the epoch. Empty: it is no number, or beyond 4e18 ns (the year 2096, counted from 1970).
std::optional<std::int64_t> ns_of_us(std::string_view decimal);

}  // namespace paceline::analysis::traces
