// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "plugin/engine.h"

// Computes operations of layers from their shapes, and adds up a model's layers. A multiply-add is two
// operations; padding counts as if it were computed (docs/metrics.md, model FLOPs).
namespace paceline::plugin_support {

// Every output element is a sum over a kernel. `weights` is [out, in per group, kernel…], with the groups as
// an additional first dimension where it has one dimension more than `output`.
double convolution_flops(const Shape& output, const Shape& weights);
// Every input element is multiplied with [out per group, kernel…]; `weights` is [in, out per group, kernel…].
double transposed_convolution_flops(const Shape& input, const Shape& weights);
// A, transposed or not, times a matrix: the dimension of A that `output` lacks is summed over.
double matrix_product_flops(const Shape& a, const Shape& output);

// The model's layer that a node of a file belongs to. Paceline's exporter names nodes LAYER/OPERATOR and
// their values LAYER/OPERATOR:0; other names are returned as they are.
std::string layer_of_node(std::string_view node);
// The first three layers of several nodes, each once.
std::string layers_of_nodes(const std::vector<std::string>& nodes);

struct LayerWork {
  plugin::Layer layer;
  int operators = 0;  // convolutions and matrix products in it
};

// Shares by precision over the layers that have FLOPs, with their sum and the layers themselves.
plugin::ReadBack read_back_of(std::vector<LayerWork> layers, std::string source);

}  // namespace paceline::plugin_support
