// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "base/tensor.h"

namespace paceline::plugin_support {

// The numbers of all float32 outputs, one after the other.
std::vector<float> float_numbers(std::span<const TensorView> outputs);

// Whether two runs of one model on the same inputs differ by more than the order of float32 operations
// explains: root mean square of the difference above 2^-16 of that of `exact`. Activations rounded to 8 bits
// differ by about 2^-8, another order of sums by 2^-22. False for runs that cannot be compared.
bool differ_beyond_float(const std::vector<float>& run, const std::vector<float>& exact);

}  // namespace paceline::plugin_support
