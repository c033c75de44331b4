// SPDX-License-Identifier: MIT
#pragma once
#include "measure/timed_loop.h"

namespace paceline::measure {

inline const TimerCost kTimer{20, 22, 25};  // a usual one

}  // namespace paceline::measure
