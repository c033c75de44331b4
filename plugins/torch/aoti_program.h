// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "plugin/engine.h"
#include "torch/precision.h"
#include "torch/program.h"

namespace paceline::torch_plugin {

// Purpose that a package is loaded for.
struct PackageUse {
  std::string precision;
  at::Device device = at::kCPU;
  int capability = 0;  // of a CUDA device: ten times major plus minor
};

// Loads a package that PyTorch's AOTInductor compiled (.pt2) for the device, on whose current stream it runs.
// Error(kData) when the file is not one or is damaged, Error(kUnsupported) for a built-in model and for a
// package that was compiled for another device, instructions that this CPU lacks, or another precision, as
// its metadata say before anything is loaded. Inputs of another shape or type than it was compiled for are
// refused at run time: the package itself would compute wrong results.
std::unique_ptr<Program> load_package(const plugin::ModelSpec& model, const PackageUse& use);

// The inputs of a package that `paceline build` made. Error(kUnsupported) for others, which do not tell.
std::vector<DeclaredInput> package_inputs(const std::string& file);

}  // namespace paceline::torch_plugin
