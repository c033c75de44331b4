// SPDX-License-Identifier: MIT
#include "support/rounding.h"

#include <cmath>
#include <cstddef>
#include <cstring>

namespace paceline::plugin_support {

std::vector<float> float_numbers(std::span<const TensorView> outputs) {
  std::vector<float> numbers;
  for (const auto& output : outputs) {
    if (output.dtype != DType::kFloat32 || !output.data) continue;
    const auto count = static_cast<std::size_t>(element_count(output.shape));
    const auto begin = numbers.size();
    numbers.resize(begin + count);
    if (count > 0) std::memcpy(numbers.data() + begin, output.data, count * sizeof(float));
  }
  return numbers;
}

bool differ_beyond_float(const std::vector<float>& run, const std::vector<float>& exact) {
  constexpr double kLargest = 0x1p-16;
  if (run.size() != exact.size()) return false;
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (!std::isfinite(run[i]) || !std::isfinite(exact[i])) continue;
    const double d = static_cast<double>(run[i]) - exact[i];
    difference += d * d;
    size += static_cast<double>(exact[i]) * exact[i];
  }
  return difference > kLargest * kLargest * size;
}

}  // namespace paceline::plugin_support
