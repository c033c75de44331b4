// SPDX-License-Identifier: MIT
#include "openvino/layer_arithmetic.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace paceline::openvino_plugin {
namespace {

struct TypeRow {
  std::string_view type, name;
  int bits;
};
constexpr std::array kTypes{TypeRow{"f64", "fp64", 64}, TypeRow{"f32", "fp32", 32},
                            TypeRow{"f16", "fp16", 16}, TypeRow{"bf16", "bf16", 16},
                            TypeRow{"i8", "int8", 8},   TypeRow{"u8", "int8", 8},
                            TypeRow{"i4", "int4", 4},   TypeRow{"u4", "int4", 4},
                            TypeRow{"i2", "int2", 2},   TypeRow{"u2", "int2", 2}};

// Types that have no row keep OpenVINO's name.
TypeRow row_of(std::string_view type) {
  const auto* const row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == kTypes.end() ? TypeRow{type, type, 0} : *row;
}

// The one kind of layer that OpenVINO quantises dynamically.
constexpr std::string_view kProduct = "FullyConnected";

}  // namespace

// Wider weights are converted when the model is compiled: only narrower ones are multiplied as something
// else.
Arithmetic arithmetic_of(const LayerTypes& types) {
  const bool explained = types.runtime == types.activations || types.runtime == types.weights;
  const auto arithmetic = row_of(explained ? types.activations : types.runtime);
  const auto weights = row_of(types.weights);
  const bool narrower =
      weights.bits > 0 && weights.bits <= arithmetic.bits && weights.name != arithmetic.name;
  return {std::string(arithmetic.name), narrower ? std::string(weights.name) : std::string()};
}

bool may_round_activations(const plugin_support::LayerWork& work) {
  return work.layer.type == kProduct && work.layer.precision == "fp32" &&
         work.layer.weights.starts_with("int");
}

void set_rounded(std::span<plugin_support::LayerWork> layers) {
  for (auto& work : layers)
    if (may_round_activations(work)) work.layer.precision = "int8";
}

}  // namespace paceline::openvino_plugin
