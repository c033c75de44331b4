// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "torch/export/onnx_graph.h"

namespace paceline::torch_plugin {

// Writes one TorchScript operator as ONNX nodes; each operator has one rule.
using OnnxRule = void (*)(OnnxGraph& graph, const torch::jit::Node* node);

// The rule of an operator such as "aten::relu", which also holds for its in-place form. Null: there is none.
OnnxRule find_rule(const std::string& kind);

}  // namespace paceline::torch_plugin
