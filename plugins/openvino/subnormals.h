// SPDX-License-Identifier: MIT
#pragma once
#include <openvino/core/model.hpp>
#include <string>

namespace paceline::openvino_plugin {

// A sentence about a model with subnormal constants, which OpenVINO takes as 0; empty: it has none.
std::string subnormal_note(const ov::Model& graph);

}  // namespace paceline::openvino_plugin
