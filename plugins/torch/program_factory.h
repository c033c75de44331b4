// SPDX-License-Identifier: MIT
// Picks and makes the Program of a case; puts a built-in model on its device.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/engine.h"
#include "torch/graph_switches.h"
#include "torch/precision.h"
#include "torch/program.h"
#include "torch/tensors.h"

namespace paceline::torch_plugin {

class Model;

// Reads EngineSettings::layout. Error(kUsage) for unknown values.
bool wants_channels_last(const std::string& layout);

// Converts every parameter and buffer of the model to that form, in place.
void convert(Model& model, const Form& form);

// Makes a program of a built-in model or a TorchScript file on the form's device; `compile`: by TorchScript.
// `switches` are for files; what is traced here takes LibTorch's own.
std::unique_ptr<Program> build_program(const plugin::ModelSpec& spec, bool compile, int threads,
                                       const Precision& precision, const Form& form,
                                       const GraphSwitches& switches = {});

// For yardsticks of accuracy: moves all weights by one unit in the last place, or rounds those of the layer
// in the middle to bfloat16. A frozen file has none.
void change_weights(const Program& program, const std::string& how);

// The settings of the program, and the tensors in its file of weights that it does not need.
std::vector<std::pair<std::string, std::string>> settings_of(const Program& program);

}  // namespace paceline::torch_plugin
