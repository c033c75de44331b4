// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "torch/export/onnx_graph.h"

namespace paceline::torch_plugin {

// Writes one TorchScript operator as ONNX nodes.
using OnnxRule = void (*)(OnnxGraph& graph, const torch::jit::Node* node);

// The rule of an operator such as "aten::relu"; an in-place operator has that of its pure form. Null: none.
OnnxRule find_rule(const std::string& kind);

}  // namespace paceline::torch_plugin
