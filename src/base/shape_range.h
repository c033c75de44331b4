// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "base/tensor.h"

namespace paceline {

// The shapes an engine must take for one input, and the one it is tuned for: min <= opt <= max in every
// dimension.
struct ShapeRange {
  std::string input;
  Shape min, opt, max;
  friend bool operator==(const ShapeRange&, const ShapeRange&) = default;
};

// One range for every input of the model. An engine may have several profiles for different sizes.
using ShapeProfile = std::vector<ShapeRange>;

}  // namespace paceline
