// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "torch/training/steps_under_way.h"

namespace paceline::cuda_plugin {

// Steps on a CUDA device, timed by events on the streams that do the work; inputs go through pinned memory on
// a stream of their own.
std::unique_ptr<torch_plugin::StepsUnderWay> make_cuda_steps(int device);

}  // namespace paceline::cuda_plugin
