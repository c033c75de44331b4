// SPDX-License-Identifier: MIT
// Runs TorchScript: freezes and optimises a traced model, or reads a .pt file.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/declared_input.h"
#include "torch/graph_switches.h"
#include "torch/precision.h"
#include "torch/program.h"
#include "torch/tensors.h"

// All use of TorchScript is here: PyTorch has deprecated it, and a release without it must only affect
// script_program.cc.
namespace paceline::torch_plugin {

class Model;

// Traces the model on the example inputs (any batch), freezes it and optimises it for inference. Autocast is
// recorded in the trace, so that casts of weights happen once.
std::unique_ptr<Program> trace_program(Model& model, const std::string& name,
                                       std::span<const at::Tensor> examples, const Precision& precision);

struct ScriptFile {
  std::string path;
  std::size_t inputs = 0;  // number of tensors that the caller passes
  bool optimise = false;   // freeze and optimise for inference; else use it as saved
};

// Parameters of a TorchScript file's `forward`: for tensors only names, because the format keeps no shapes;
// for numbers scalars. Arguments with a default are left out. Error(kData) as below.
std::vector<DeclaredInput> script_file_inputs(const std::string& path);

// Reads a TorchScript file, and sets the switches that its tracing baked into it. Error(kData) when it is not
// one, is truncated, or takes another number of inputs.
std::unique_ptr<Program> load_program(const ScriptFile& file, const Precision& precision, const Form& form,
                                      const GraphSwitches& switches);

}  // namespace paceline::torch_plugin
