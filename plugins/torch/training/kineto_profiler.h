// SPDX-License-Identifier: MIT
#pragma once
#include <c10/core/Device.h>

#include <memory>

#include "plugin/trainer.h"

namespace paceline::torch_plugin {

// Runs PyTorch's own profiler over what this thread does, and the device's kernels.
std::unique_ptr<plugin::Profiler> make_kineto_profiler(c10::Device device);

}  // namespace paceline::torch_plugin
