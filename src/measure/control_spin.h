// SPDX-License-Identifier: MIT
// Work that nothing under comparison can change: if its time changes, the machine did.
#pragma once

namespace paceline::measure {

inline constexpr int kWholeControl = 20;

// Time of a fixed amount of arithmetic and of reading memory beyond the caches of a core, about 1 ms per
// part. Equal work for equal parts.
double control_spin_ns(int parts = kWholeControl);

}  // namespace paceline::measure
