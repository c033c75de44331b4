// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "plugin/registry.h"
#include "plugin/torch/driver.h"

namespace paceline::cuda_test {

// Why the plug-in cannot be loaded here, e.g. for lack of CUDA's libraries; empty when it is loaded. To be
// asked before any other plug-in on LibTorch: a process that looked for CUDA before stays without it.
std::string loading_problem();
// Why nothing can run on a GPU here; empty when it can.
std::string device_problem();

// The plug-in, once it is known that it loads.
const plugin::LoadedPlugin& cuda_plugin();

using Options = std::map<std::string, std::string>;

// The case on the first device, or on the one that the options name.
std::unique_ptr<plugin::Engine> load_on_device(const torch_test::Case& c, Options options = {});
// Loads a TorchScript file with one input.
std::unique_ptr<plugin::Engine> load_file_on_device(const std::string& file, const Shape& shape,
                                                    const std::string& engine, const std::string& precision);

}  // namespace paceline::cuda_test
