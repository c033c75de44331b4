// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "plugin/device_probe.h"

namespace paceline::cuda_plugin {

// Products of several sizes, a convolution, and copies, each timed by events of the device.
std::unique_ptr<plugin::DeviceProbe> make_peak_probe();

}  // namespace paceline::cuda_plugin
