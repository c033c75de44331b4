// SPDX-License-Identifier: MIT
#pragma once
#include <torch/csrc/jit/api/module.h>

#include <span>
#include <string>

namespace paceline::torch_plugin {

class Model;

// Traces the operators of one run of a built-in model as a TorchScript module. It shares the model's tensors,
// under their names; the shapes of values are those of the examples.
torch::jit::Module trace_model(Model& model, const std::string& name, std::span<const at::Tensor> examples);

}  // namespace paceline::torch_plugin
