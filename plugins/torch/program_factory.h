// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/engine.h"
#include "torch/precision.h"
#include "torch/program.h"
#include "torch/tensors.h"

namespace paceline::torch_plugin {

class Model;

// Of EngineSettings::layout. Error(kUsage) for other words.
bool wants_channels_last(const std::string& layout);

// Every parameter and buffer of the model in that form; they stay the same tensors.
void convert(Model& model, const Form& form);

// A built-in model or a TorchScript file as a program on the form's device; `compile`: by TorchScript.
std::unique_ptr<Program> build_program(const plugin::ModelSpec& spec, bool compile, int threads,
                                       const Precision& precision, const Form& form);

// Its settings, and which tensors of its file of weights it does not need.
std::vector<std::pair<std::string, std::string>> settings_of(const Program& program);

}  // namespace paceline::torch_plugin
