// SPDX-License-Identifier: MIT
// Whether two ranks on this machine can meet and talk.
#pragma once
#include <atomic>

#include "host/checks/checks.h"

namespace paceline::run {

// Two ranks over gloo, as `comm --ranks 2` starts them, exchange the smallest message. Takes seconds.
host::CheckedRow round_trip(const std::atomic<bool>& interrupt);

}  // namespace paceline::run
