// SPDX-License-Identifier: MIT
#pragma once
#include <functional>

#include "plugin/engine.h"
#include "torch/program.h"

namespace paceline::torch_plugin {

// Times what a program runs, operator by operator. Convolutions that the dispatcher does not see come from
// oneDNN's log and are listed after the others. `infer` is one inference of the program.
plugin::LayerTimes layer_times(const Program& program, int inferences, const std::function<void()>& infer);

}  // namespace paceline::torch_plugin
