// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "onnx/proto.h"
#include "onnx/value_observer.h"

// Converts numbers to integers: real ≈ scale · (integer − zero point), rounded to nearest even as
// QuantizeLinear does.
namespace paceline::onnx {

enum class Activations {
  kUnsigned,  // uint8, the range as it is; zero point 0 without negative values
  kSigned,    // int8, symmetric, zero point 0
};

struct ScaleAndZero {
  float scale = 1;
  int zero_point = 0;
};

// The range is widened to include 0, which must be exact. A range of only 0 has scale 1.
ScaleAndZero activation_scale(const Range& range, Activations activations);

// A scale of unsigned activations, reduced so far that no integer means a value outside the range.
ScaleAndZero scale_inside(const Range& range, ScaleAndZero scale);

struct ChannelWeights {
  std::vector<float> scales;        // one per channel
  std::vector<std::int8_t> values;  // in the order of the tensor
};

// Symmetric, one scale per channel of `axis`, |integer| at most 2^(bits-1) - 1. A channel's scale is at least
// its value in `smallest_scales` (empty: no limit).
ChannelWeights quantise_channels(std::span<const float> weights, const std::vector<std::int64_t>& shape,
                                 int axis, int bits, std::span<const float> smallest_scales);

// Weight scales below these would push the bias, whose scale is weight scale · input scale, beyond int32:
// channels with almost no weights would then lose their bias.
std::vector<float> smallest_weight_scales(std::span<const float> bias, float input_scale);

std::vector<std::int32_t> quantise_bias(std::span<const float> bias, std::span<const float> scales);

}  // namespace paceline::onnx
