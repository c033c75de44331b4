// SPDX-License-Identifier: MIT
// Finds in a TorchScript graph what its inputs may be, because the format keeps no shapes.
#pragma once
#include <torch/csrc/jit/api/module.h>

#include <vector>

#include "base/declared_input.h"

namespace paceline::torch_plugin {

// Sets id_limit, type and example of the inputs that reach an embedding, a convolution or a linear layer with
// weights of the file. `inputs` are the first arguments of forward.
void add_script_hints(const torch::jit::Module& module, std::vector<DeclaredInput>& inputs);

}  // namespace paceline::torch_plugin
