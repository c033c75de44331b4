// SPDX-License-Identifier: MIT
// The exporters of ONNX and TorchScript files.
#pragma once
#include <memory>

#include "plugin/exporter.h"

namespace paceline::torch_plugin {

std::unique_ptr<plugin::Exporter> make_onnx_exporter();
std::unique_ptr<plugin::Exporter> make_script_exporter();

}  // namespace paceline::torch_plugin
