// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "onnx/proto.h"
#include "plugin/engine.h"
#include "result/stored/case_result.h"

// Convolutions and matrix products that did not run in the precision asked for, and why.
namespace paceline::workload {

// `file`: what the engine read; `engine`: its name. A file of another format than ONNX gives no reasons.
std::vector<result::FloatLayers> float_layers(const plugin::ReadBack& read, const std::string& asked,
                                              const std::string& file, const std::string& engine);

// Share of the counted FLOPs that ran in convolutions; missing where the engine does not report its layers.
Number convolution_share(const plugin::ReadBack& read);

// Takes the graph; null: no reasons.
std::vector<result::FloatLayers> float_layers(const plugin::ReadBack& read, const std::string& asked,
                                              onnx::proto::ModelProto* model, const std::string& engine);

}  // namespace paceline::workload
