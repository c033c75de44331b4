// SPDX-License-Identifier: MIT
#pragma once
#include "report/format.h"

namespace paceline::report {

// The rows of collectives.csv; the first column names the run.
Format::Render render_collectives;

}  // namespace paceline::report
