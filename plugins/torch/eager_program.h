// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "torch/precision.h"
#include "torch/program.h"

namespace paceline::torch_plugin {

class Model;

// Runs a built-in model operator by operator. Its tensors must already be in the wanted form.
std::unique_ptr<Program> make_eager_program(std::shared_ptr<Model> model, const Precision& precision);

}  // namespace paceline::torch_plugin
