// SPDX-License-Identifier: MIT
// Merges the layers of several inferences into one list with the median of each layer's times.
#pragma once
#include <vector>

#include "plugin/engine.h"

namespace paceline::plugin_support {

// The median; of an even count the mean of the two middle ones. `values` must not be empty.
double median(std::vector<double> values);

// Merges the layers of several inferences (or groups of them): the layers of the last one, each with the
// median of its times over those inferences that ran the same layers in the same order. A layer that none of
// them timed has no time. Empty without inferences.
std::vector<plugin::Layer> with_median_times(std::vector<std::vector<plugin::Layer>> inferences);

// Throws Error(kUnsupported) unless all inferences ran the same layers in the same order.
void refuse_other_layers(const std::vector<std::vector<plugin::Layer>>& inferences);

}  // namespace paceline::plugin_support
