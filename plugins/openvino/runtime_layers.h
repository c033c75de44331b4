// SPDX-License-Identifier: MIT
#pragma once
#include <openvino/core/model.hpp>
#include <vector>

#include "support/layer_work.h"

namespace paceline::openvino_plugin {

// The layers of a compiled model as its runtime model describes them. `graph` is the model that was compiled:
// where OpenVINO fused several operators into one layer, their names lead to their shapes there. Times exist
// when it was compiled with profiling and has run.
std::vector<plugin_support::LayerWork> runtime_layers(const ov::Model& runtime, const ov::Model& graph);

}  // namespace paceline::openvino_plugin
