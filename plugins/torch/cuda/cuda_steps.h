// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "torch/training/steps_under_way.h"

namespace paceline::cuda_plugin {

// Times steps on a CUDA device with events on the streams that do the work; inputs go through pinned memory
// on their own stream.
std::unique_ptr<torch_plugin::StepsUnderWay> make_cuda_steps(int device);

}  // namespace paceline::cuda_plugin
