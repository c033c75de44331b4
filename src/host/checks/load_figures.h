// SPDX-License-Identifier: MIT
// Shows and judges figures of a load test.
#pragma once
#include <string>
#include <vector>

#include "host/checks/machine.h"

namespace paceline::host {

// Least slowdown, beyond both intervals: the spread of healthy devices of one model.
inline constexpr double kSlowerBy = 0.1;

// "52.0 TFLOP/s (51.2–52.4)"
std::string shown_figure(const LoadFigure& figure);

// Whether all of the interval is below the other's by more than kSlowerBy.
bool is_slower(const LoadFigure& figure, const LoadFigure& other);

// Status of a slow figure: core sets that neighbours may have slowed down do not fail.
Verdict slow_status(const Machine& machine, const LoadFigure& figure);

}  // namespace paceline::host
