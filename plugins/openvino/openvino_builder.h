// SPDX-License-Identifier: MIT
#pragma once
#include "plugin/builder.h"

namespace paceline::openvino_plugin {

// Compiles an ONNX file for the CPU device into a .blob: graph as prepared for it, weights, bounds of the
// shapes.
class OpenVinoBuilder : public plugin::Builder {
 public:
  plugin::BuildReport build(const std::string& onnx_file, const plugin::BuildSettings& settings,
                            const std::string& file) override;
};

}  // namespace paceline::openvino_plugin
