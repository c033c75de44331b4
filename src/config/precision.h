// SPDX-License-Identifier: MIT
// A precision, and how far its outputs may be from fp32.
#pragma once
#include <string_view>

namespace paceline::config {

// Largest accepted difference from the FP32 reference: max|a-b|/max|b|, and centred cosine
// (docs/methodology.md, accuracy).
struct Tolerance {
  double max_rel_err = 0;
  double centred_cosine = 0;
};

struct Precision {
  std::string_view name;
  std::string_view meaning;
  bool available = true;
  Tolerance cnn, transformer;
  double max_changed = 1;  // accepted share of answers that differ from FP32's, with trained weights
  // Accepted 0.98 quantile of the errors of a dense output, over the reference's standard deviation.
  double quantile_err = 0;
  // Accepted root mean square of the errors, in units of what moving the inputs by one unit in the last place
  // of float32 changes; 0: no such limit.
  double ulps = 0;
};

}  // namespace paceline::config
