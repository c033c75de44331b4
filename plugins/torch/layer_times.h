// SPDX-License-Identifier: MIT
#pragma once
#include <functional>

#include "plugin/engine.h"
#include "torch/program.h"

namespace paceline::torch_plugin {

// Times what a program runs, operator by operator; convolutions that pass the dispatcher unseen come from
// oneDNN's log, after the others. `infer` is one inference of the program.
plugin::LayerTimes layer_times(const Program& program, int inferences, const std::function<void()>& infer);

}  // namespace paceline::torch_plugin
