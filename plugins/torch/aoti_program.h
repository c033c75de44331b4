// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>

#include "torch/program.h"

namespace paceline::torch_plugin {

// Loads a package that PyTorch's AOTInductor compiled (.pt2). Error(kData) when the file is not one or is
// damaged, Error(kUnsupported) when it was compiled for instructions that this CPU lacks. Inputs of another
// shape or type than it was compiled for are refused at run time: the package itself would compute wrong
// results.
std::unique_ptr<Program> load_package(const std::string& file);

}  // namespace paceline::torch_plugin
