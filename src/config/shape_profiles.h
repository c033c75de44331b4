// SPDX-License-Identifier: MIT
// Reads the smallest, tuned and largest shapes of inputs, and checks whether they fit a model.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/shape_range.h"
#include "config/settings.h"

namespace paceline::config {

// Parses min_shapes, opt_shapes and max_shapes: "input:1x3x224x224,ids:1x128", profiles separated by ';';
// "1x3x224x224" is of the only input. A min or max that is not given equals opt. Empty when none is set.
// Throws Error(kUsage).
std::vector<ShapeProfile> shape_profiles(const Settings& s);

// Completes profiles for a model: every input in every profile, fixed dimensions filled in. `inputs` have -1
// for free dimensions; a free first dimension of an input without shapes is the batch. Throws Error(kUsage)
// naming the input and what does not fit.
std::vector<ShapeProfile> complete_profiles(std::vector<ShapeProfile> given,
                                            std::span<const TensorSpec> inputs, std::int64_t batch);

std::string shape_text(const Shape& shape);       // "8x3x224x224", "Nx3" for a free dimension
std::string range_text(const ShapeRange& range);  // "input:1x3x224x224…8x3x224x224 (tuned for 4x3x224x224)"

}  // namespace paceline::config
