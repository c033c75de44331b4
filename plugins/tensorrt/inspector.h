// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "support/layer_work.h"

namespace paceline::tensorrt_plugin {

// The layers in the JSON text of TensorRT's engine inspector, in the order in which they run. A layer
// computes in the type that it reads; whether float32 is rounded to TF32 is told by its kernel's name alone,
// and without one its precision is unknown. Throws Error(kData) for what is no such text, Error(kUnsupported)
// for a plan that keeps names only.
std::vector<plugin_support::LayerWork> inspected_layers(const std::string& json);

}  // namespace paceline::tensorrt_plugin
