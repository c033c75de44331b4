// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace paceline::measure {

enum class ArrivalKind : std::uint8_t { kPoisson, kConstant };
inline constexpr std::string_view kConstantName = "constant";

// Schedules when `count` requests arrive, in ns after the start, ascending: gaps are drawn from Exp(rate), or
// are all 1 / rate. The same seed gives the same schedule, which exists before the first request.
std::vector<std::int64_t> schedule_arrivals(ArrivalKind kind, double rate_per_s, std::int64_t count,
                                            std::uint64_t seed);

}  // namespace paceline::measure
