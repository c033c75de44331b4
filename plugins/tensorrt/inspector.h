// SPDX-License-Identifier: MIT
// Reads precision and operations of layers from the JSON text of TensorRT's engine inspector.
#pragma once
#include <string>
#include <vector>

#include "support/layer_work.h"

namespace paceline::tensorrt_plugin {

// The layers in the JSON text of TensorRT's engine inspector, in order of execution. A layer computes in the
// type that it reads. Only the name of its kernel tells whether float32 is rounded to TF32, so without one
// its precision is unknown. Throws Error(kData) for other text, Error(kUnsupported) for a plan that keeps
// names only.
std::vector<plugin_support::LayerWork> inspected_layers(const std::string& json);

}  // namespace paceline::tensorrt_plugin
