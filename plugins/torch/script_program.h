// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/declared_input.h"
#include "torch/precision.h"
#include "torch/program.h"
#include "torch/tensors.h"

// The only door to TorchScript: PyTorch has deprecated it, and a release without it must cost
// script_program.cc alone.
namespace paceline::torch_plugin {

class Model;

// Traces the model on the example inputs (any batch), freezes it and optimises it for inference. Autocast is
// recorded in the trace, so that casts of weights happen once.
std::unique_ptr<Program> trace_program(Model& model, const std::string& name,
                                       std::span<const at::Tensor> examples, const Precision& precision);

struct ScriptFile {
  std::string path;
  std::size_t inputs = 0;  // tensors the caller will pass
  bool optimise = false;   // freeze and optimise for inference; else as it was saved
};

// What `forward` of a TorchScript file takes: names alone for tensors, whose shapes the format does not keep;
// numbers as scalars. Arguments with a default are left out. Error(kData) as below.
std::vector<DeclaredInput> script_file_inputs(const std::string& path);

// Reads a TorchScript file. Error(kData) when it is none, is truncated, or takes another number of inputs.
std::unique_ptr<Program> load_program(const ScriptFile& file, const Precision& precision, const Form& form);

}  // namespace paceline::torch_plugin
