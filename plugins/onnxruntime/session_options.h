// SPDX-License-Identifier: MIT
#pragma once
#include <onnxruntime_cxx_api.h>

#include <string>
#include <utility>
#include <vector>

#include "plugin/engine.h"

namespace paceline::ort_plugin {

// Turns settings into session options, all of them explicit: threads inside and between operators, execution
// mode, graph optimisation, spinning, memory arena; open dimensions of the file's inputs fixed to the sizes
// asked for. Error(kUsage) for an option or a value it does not know.
Ort::SessionOptions session_options(const std::string& file, const plugin::ModelSpec& model,
                                    const plugin::EngineSettings& settings);

// Describes these options for results.
std::vector<std::pair<std::string, std::string>> option_texts(const plugin::EngineSettings& settings);

}  // namespace paceline::ort_plugin
