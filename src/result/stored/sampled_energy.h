// SPDX-License-Identifier: MIT
// Energy that counters of samplers show over timed windows. Formulas: docs/metrics.md, devices.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/maybe.h"
#include "result/stored/sampled.h"

namespace paceline::result {

// Items of the case done in a window; missing with the reason.
using ItemsInWindow = std::function<Number(const SampledWindow&)>;

struct Energy {
  Number joules = 0.0, seconds = 0.0, items = 0.0;
};
Energy no_energy(const std::string& reason);

// Energy from the first to the last reading in a window; `counter` may be null.
Energy energy_in(const SampledWindow& window, const SampledSeries* counter, const ItemsInWindow& items);
// Adds `one` to `sum`. If either is missing, the sum is missing with its reason.
void add(Energy& sum, const Energy& one);

inline constexpr const char* kNoIdleReading = "it was not read before the run";

Number energy_per_item(const Energy& all);
// Without what the meter showed before the first worker of the run.
Number energy_above_idle_per_item(const Energy& all, const Number& idle_power_w);

// Counters advance in steps, and the load has not settled: energy of shorter windows is no figure to decide
// by. It is shown with its time, and missing among the metrics.
inline constexpr double kLongEnoughForEnergyS = 10;
bool is_brief(const Number& energy_window_s);
Number of_long_windows(const Number& energy, const Number& energy_window_s);

}  // namespace paceline::result
