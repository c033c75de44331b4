// SPDX-License-Identifier: MIT
#pragma once
#include <concepts>
#include <cstdint>

namespace paceline::measure {

// A monotonic nanosecond clock whose copies agree: paceline::SteadyClock, or a fake one in tests.
template <class C>
concept Clock = std::copyable<C> && requires(const C& clock) {
  { clock.now_ns() } -> std::same_as<std::int64_t>;
};

}  // namespace paceline::measure
