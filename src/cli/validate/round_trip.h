// SPDX-License-Identifier: MIT
// Whether two ranks on this machine can meet and talk.
#pragma once
#include <vector>

#include "host/checks/checks.h"

namespace paceline::cli {

// Two ranks over gloo, as `comm --ranks 2` starts them, exchange the smallest message. Takes seconds.
host::CheckedRow round_trip();

}  // namespace paceline::cli
