// SPDX-License-Identifier: MIT
#pragma once
#include "plugin/builder.h"

namespace paceline::openvino_plugin {

// Compiles an ONNX file for the CPU device into a .blob, which holds the prepared graph, the weights and the
// bounds of the shapes.
class OpenVinoBuilder : public plugin::Builder {
 public:
  plugin::BuildReport build(const std::string& onnx_file, const plugin::BuildSettings& settings,
                            const std::string& file) override;
};

}  // namespace paceline::openvino_plugin
