// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace paceline::test {

inline constexpr std::int64_t kMs = 1'000'000, kS = 1'000'000'000;  // in nanoseconds

}  // namespace paceline::test
