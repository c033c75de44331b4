// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "plugin/engine.h"

// Operations of layers from their shapes, and what a model's layers add up to. A multiply-add is two
// operations; padding counts as if it were computed (docs/metrics.md, model FLOPs).
namespace paceline::plugin_support {

// Every output element is a sum over a kernel; `weights` is [out, in per group, kernel…], with the groups as
// a dimension of their own in front where `weights` has one dimension more than `output`.
double convolution_flops(const Shape& output, const Shape& weights);
// Every input element meets [out per group, kernel…]; `weights` is [in, out per group, kernel…].
double transposed_convolution_flops(const Shape& input, const Shape& weights);
// A, transposed or not, times anything: what is left of its last two dimensions is summed over.
double matrix_product_flops(const Shape& a, const Shape& output);

// The model's layer that a node of a file belongs to: what Paceline exports names nodes LAYER/OPERATOR and
// their values LAYER/OPERATOR:0; other names stay as they are.
std::string layer_of_node(std::string_view node);
// The layers of several nodes, each once, the first three.
std::string layers_of_nodes(const std::vector<std::string>& nodes);

struct LayerWork {
  plugin::Layer layer;
  int operators = 0;  // convolutions and matrix products in it
};

// Shares by precision over the layers that have FLOPs, their sum, and the layers themselves.
plugin::ReadBack read_back_of(std::vector<LayerWork> layers, std::string source);

}  // namespace paceline::plugin_support
