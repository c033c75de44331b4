// SPDX-License-Identifier: MIT
// The setting by which a trainer says which clock times the parts of a step; results keep it with the others.
#pragma once

namespace paceline {

inline constexpr const char* kStepTimes = "step_times";
inline constexpr const char* kOnDeviceClock = "marks on the device's own clock";
inline constexpr const char* kOnHostClock = "the host's clock";

}  // namespace paceline
