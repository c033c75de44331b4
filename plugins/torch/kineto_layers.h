// SPDX-License-Identifier: MIT
#pragma once
#include <c10/core/Device.h>

#include <functional>

#include "plugin/engine.h"
#include "torch/operator_timer.h"

namespace paceline::torch_plugin {

// Layers of a model on a device, with the times of their kernels there. `infer` is one inference and waits
// for it. Throws Error(kUnsupported) as plugin_support::device_layers does, or if the profiler cannot start.
plugin::LayerTimes kineto_layers(const OperatorTimer::Weights& weights, c10::Device device, int inferences,
                                 const std::function<void()>& infer);

}  // namespace paceline::torch_plugin
