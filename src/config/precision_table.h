// SPDX-License-Identifier: MIT
// The precisions, and how far their outputs may be from fp32.
#pragma once
#include <array>
#include <string_view>

#include "config/precision.h"

namespace paceline::config {

// bf16 has 8 bits of significand and fp16 11, so one rounding costs 0.4 % and 0.05 %; the limits leave room
// for growth through 50 layers. The share of changed answers separates a broken model from a working one; how
// good it is, a claim says. The last figure limits the errors of dense outputs and corresponds to the cosine
// limit for errors that are spread evenly (docs/methodology.md, accuracy).
inline constexpr std::string_view kPrecisionOfFile = "auto";  // float arithmetic is asked for in fp32
inline constexpr std::array kPrecisions{
    Precision{"fp32", "32-bit floating point", true, {1e-5, 0.99999}, {1e-4, 0.99999}, 0.005, 1e-4, 5},
    Precision{"tf32",
              "fp32 with products rounded to 10 bits, on GPUs",
              true,
              {1e-2, 0.999},
              {1e-2, 0.999},
              0.02,
              0.1,
              0x1p13},
    Precision{"fp16",
              "weights and arithmetic in half precision",
              true,
              {3e-2, 0.999},
              {3e-2, 0.999},
              0.02,
              0.1,
              0x1p13},
    Precision{
        "bf16", "weights and arithmetic in bfloat16", true, {2e-1, 0.98}, {2e-1, 0.98}, 0.05, 0.4, 0x1p16},
    Precision{
        "amp_fp16", "autocast to half precision", true, {3e-2, 0.999}, {3e-2, 0.999}, 0.02, 0.1, 0x1p13},
    Precision{"amp_bf16", "autocast to bfloat16", true, {2e-1, 0.98}, {2e-1, 0.98}, 0.05, 0.4, 0x1p16},
    Precision{"int8", "8-bit integers, of a quantised model", true, {3e-1, 0.95}, {3e-1, 0.95}, 0.1, 0.5},
    Precision{"auto",
              "as a model file has it; what ran is read back",
              true,
              {1e-5, 0.99999},
              {1e-4, 0.99999},
              0.005,
              1e-4,
              5},
};

}  // namespace paceline::config
