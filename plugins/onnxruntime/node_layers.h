// SPDX-License-Identifier: MIT
// Layers of inferences on a device, from ONNX Runtime's profile.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "onnxruntime/node_work.h"
#include "plugin/engine.h"

namespace paceline::ort_plugin {

// Layers are nodes with the times of their kernels, nodes on the CPU with the host's, and kernels and copies
// that no node started. A profile without kernels leaves the host's times, and the source says so. Throws
// Error(kUnsupported) if the runs had other layers. `layer_of` makes a layer of a node.
plugin::LayerTimes layers_on_device(std::span<const ProfiledRun> runs,
                                    const std::function<plugin::Layer(const ProfiledNode&)>& layer_of);

}  // namespace paceline::ort_plugin
