// SPDX-License-Identifier: MIT
#include "onnx/integer_tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace paceline::onnx {
namespace {

constexpr float kBiasLimit = 0x1.0p30F;  // half of int32 leaves room for the sums that are added

// The channel of element i: the index along the axis advances every `inner` elements.
class ChannelOf {
 public:
  ChannelOf(const std::vector<std::int64_t>& shape, int axis) : extent_(at(shape, axis)) {
    for (auto d = static_cast<std::size_t>(axis) + 1; d < shape.size(); ++d)
      inner_ *= static_cast<std::size_t>(shape[d]);
  }
  std::size_t operator()(std::size_t i) const { return i / inner_ % extent_; }
  [[nodiscard]] std::size_t extent() const { return extent_; }

 private:
  static std::size_t at(const std::vector<std::int64_t>& shape, int axis) {
    return static_cast<std::size_t>(shape.at(static_cast<std::size_t>(axis)));
  }
  std::size_t extent_, inner_ = 1;
};

float usable(float scale) {
  return scale >= std::numeric_limits<float>::min() ? scale : 1.0F;
}

}  // namespace

ScaleAndZero activation_scale(const Range& range, Activations activations) {
  const float low = std::min(range.low, 0.0F), high = std::max(range.high, 0.0F);
  if (activations == Activations::kSigned) return {usable(std::max(-low, high) / 127.0F), 0};
  const float scale = usable((high - low) / 255.0F);
  return {scale, std::clamp(static_cast<int>(std::nearbyint(-low / scale)), 0, 255)};
}

ScaleAndZero scale_inside(const Range& range, ScaleAndZero scale) {
  const auto below = static_cast<float>(scale.zero_point), above = 255.0F - below;
  if (below > 0 && range.low < 0) scale.scale = std::min(scale.scale, -range.low / below);
  if (above > 0 && range.high > 0) scale.scale = std::min(scale.scale, range.high / above);
  const auto outside = [&] { return above * scale.scale > range.high || below * scale.scale > -range.low; };
  for (int i = 0; i < 2 && range.high > 0 && outside(); ++i) scale.scale = std::nextafter(scale.scale, 0.0F);
  return scale;
}

ChannelWeights quantise_channels(std::span<const float> weights, const std::vector<std::int64_t>& shape,
                                 int axis, int bits, std::span<const float> smallest_scales) {
  const ChannelOf channel(shape, axis);
  const auto largest = static_cast<float>((1 << (bits - 1)) - 1);
  ChannelWeights result{std::vector<float>(channel.extent()), std::vector<std::int8_t>(weights.size())};
  for (std::size_t i = 0; i < weights.size(); ++i)
    result.scales[channel(i)] = std::max(result.scales[channel(i)], std::abs(weights[i]) / largest);
  for (std::size_t c = 0; c < result.scales.size(); ++c) {
    if (c < smallest_scales.size()) result.scales[c] = std::max(result.scales[c], smallest_scales[c]);
    result.scales[c] = usable(result.scales[c]);
  }
  for (std::size_t i = 0; i < weights.size(); ++i)
    result.values[i] = static_cast<std::int8_t>(
        std::clamp(std::nearbyint(weights[i] / result.scales[channel(i)]), -largest, largest));
  return result;
}

std::vector<float> smallest_weight_scales(std::span<const float> bias, float input_scale) {
  std::vector<float> scales(bias.size());
  std::transform(bias.begin(), bias.end(), scales.begin(),
                 [&](float b) { return std::abs(b) / (input_scale * kBiasLimit); });
  return scales;
}

std::vector<std::int32_t> quantise_bias(std::span<const float> bias, std::span<const float> scales) {
  constexpr double kLargest = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> values(bias.size());
  for (std::size_t c = 0; c < bias.size(); ++c)
    values[c] = static_cast<std::int32_t>(std::clamp(
        std::nearbyint(static_cast<double>(bias[c]) / static_cast<double>(scales[c])), -kLargest, kLargest));
  return values;
}

}  // namespace paceline::onnx
