// SPDX-License-Identifier: MIT
#pragma once
#include "plugin/builder.h"

namespace paceline::tensorrt_plugin {

// Compiles an ONNX file into a plan. Precisions are those of the file; tf32 is the builder's switch.
class PlanBuilder : public plugin::Builder {
 public:
  plugin::BuildReport build(const std::string& onnx_file, const plugin::BuildSettings& settings,
                            const std::string& file) override;
};

}  // namespace paceline::tensorrt_plugin
