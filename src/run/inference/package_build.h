// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>

#include "run/case/plugin_choice.h"
#include "run/inference/build_order.h"

// Packages of AOTInductor, which PyTorch's own Python compiles.
namespace paceline::run {

// Compiles the TorchScript file of an order into `file`, with the Python of PACELINE_PYTHON, else python3.
// Throws Error(kUnavailable) with what is missing and how to get it (the engine, Python, a PyTorch like
// LibTorch, a C++ compiler, Triton, the GPU), Error(kUnsupported) for what packages do not have,
// Error(kInternal) with the last line of the log where the compilation fails.
BuiltFile compile_package(const EngineDirectory& engines, const BuildOrder& order,
                          const std::filesystem::path& file, const std::atomic<bool>& interrupt);

}  // namespace paceline::run
