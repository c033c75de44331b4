// SPDX-License-Identifier: MIT
// Estimates how many samples are worth one independent sample.
#pragma once
#include <span>

namespace paceline::stats {

// Integrated autocorrelation time, >= 1: Geyer's initial monotone positive sequence (methodology:
// dependence). Above 20 000 samples it works on batch means. 1 for constant or very short series.
double tau_geyer(std::span<const double> x);

// Lag-1 autocorrelation; 0 for constant or very short series.
double lag1_autocorrelation(std::span<const double> x);

}  // namespace paceline::stats
