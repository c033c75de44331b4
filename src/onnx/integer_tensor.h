// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "onnx/proto.h"
#include "onnx/value_observer.h"

// Numbers to integers: real ≈ scale · (integer − zero point), rounded to nearest even as QuantizeLinear does.
namespace paceline::onnx {

enum class Activations {
  kUnsigned,  // uint8, the range as it is; zero point 0 where nothing is negative
  kSigned,    // int8, symmetric, zero point 0
};

struct ScaleAndZero {
  float scale = 1;
  int zero_point = 0;
};

// The range is widened to hold 0, which must be exact. A range of nothing but 0 has scale 1.
ScaleAndZero activation_scale(const Range& range, Activations activations);

struct ChannelWeights {
  std::vector<float> scales;        // one a channel
  std::vector<std::int8_t> values;  // in the tensor's own order
};

// Symmetric, one scale a channel of `axis`, |integer| at most 2^(bits-1) - 1. A channel's scale is no smaller
// than `smallest_scales` says (empty: no limit).
ChannelWeights quantise_channels(std::span<const float> weights, const std::vector<std::int64_t>& shape,
                                 int axis, int bits, std::span<const float> smallest_scales);

// Weight scales below these would push the bias beyond int32, whose scale is weight scale · input scale: then
// channels with almost no weights would lose their bias.
std::vector<float> smallest_weight_scales(std::span<const float> bias, float input_scale);

std::vector<std::int32_t> quantise_bias(std::span<const float> bias, std::span<const float> scales);

}  // namespace paceline::onnx
