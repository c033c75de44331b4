// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

namespace paceline {

// Part of the source of layers on a device whose engine timed only the calls that start them.
inline constexpr std::string_view kHostTimes = "times are the host's, not the device's";

}  // namespace paceline
