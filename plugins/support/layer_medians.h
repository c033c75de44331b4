// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "plugin/engine.h"

namespace paceline::plugin_support {

// The middle of some numbers; of an even count the mean of the two middle ones. There is at least one.
double median(std::vector<double> values);

// One list of layers from those of several inferences (or groups of them): what the last one ran, every layer
// with the median of its times over those that ran the same layers in the same order. A layer that none of
// these timed has no time. Empty without inferences.
std::vector<plugin::Layer> with_median_times(std::vector<std::vector<plugin::Layer>> inferences);

}  // namespace paceline::plugin_support
