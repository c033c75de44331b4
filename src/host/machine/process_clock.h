// SPDX-License-Identifier: MIT
#pragma once
#include "base/maybe.h"

namespace paceline::host {

// Time since the kernel started this process (resolution of one clock tick, 10 ms on most machines).
Number since_process_start_ns();

}  // namespace paceline::host
