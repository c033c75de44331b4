// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "support/layer_work.h"

// Works out the arithmetic of a layer from the types in OpenVINO's runtime model, whose runtimePrecision is
// the type of the weights where these are narrower than the activations.
namespace paceline::openvino_plugin {

// OpenVINO's words for element types; empty: not known.
struct LayerTypes {
  std::string runtime;      // runtimePrecision
  std::string activations;  // of the first input
  std::string weights;      // of the second input
};
struct Arithmetic {
  std::string precision;  // fp32, bf16, fp16, int8, …
  std::string weights;    // where their type is another: int4, int8, fp16, …
};
Arithmetic arithmetic_of(const LayerTypes& types);

// Whether a layer multiplies float activations with integer weights: OpenVINO may then round the activations
// to 8 bits, on CPUs with instructions for it (dynamic quantization).
bool may_round_activations(const plugin_support::LayerWork& work);

// Marks such layers as int8.
void set_rounded(std::span<plugin_support::LayerWork> layers);

}  // namespace paceline::openvino_plugin
