// SPDX-License-Identifier: MIT
// Work that nothing under comparison can change: if its time changes, the machine did.
#pragma once

namespace paceline::measure {

// Time of a fixed amount of arithmetic and of reading memory beyond the caches of a core, about 20 ms
// altogether. Equal work on every call.
double control_spin_ns();

}  // namespace paceline::measure
