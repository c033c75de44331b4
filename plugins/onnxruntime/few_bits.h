// SPDX-License-Identifier: MIT
// Lets products with weights of few bits compute in float.
#pragma once
#include <onnxruntime_cxx_api.h>

#include <string>

#include "plugin/engine.h"

namespace paceline::ort_plugin {

// Whether products are asked for in float, and not as the file has them.
bool keeps_activations(const plugin::EngineSettings& settings);

// Sets that ONNX Runtime's own fusions do not round activations to 8 bits.
void keep_activations(Ort::SessionOptions& options);

// Opens a file. Where the options keep activations, those of the file's own nodes are kept too.
Ort::Session open_session(Ort::Env& env, const std::string& file, Ort::SessionOptions options);

}  // namespace paceline::ort_plugin
