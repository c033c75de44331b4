// SPDX-License-Identifier: MIT
#pragma once
#include "report/chart/plots.h"

namespace paceline::report {

// Bus bandwidth by size: measured, fitted, and what was asked for.
Plots collective_plots(const Cases& cases);

}  // namespace paceline::report
