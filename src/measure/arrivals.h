// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace paceline::measure {

enum class ArrivalKind : std::uint8_t { kPoisson, kConstant };
inline constexpr std::string_view kConstantName = "constant", kRecordedName = "recorded";

// Arrival times of `count` requests, in ns after the start, ascending. Gaps are drawn from Exp(rate_per_s)
// (kPoisson) or all 1 / rate_per_s (kConstant). The same seed gives the same schedule.
std::vector<std::int64_t> schedule_arrivals(ArrivalKind kind, double rate_per_s, std::int64_t count,
                                            std::uint64_t seed);

}  // namespace paceline::measure
