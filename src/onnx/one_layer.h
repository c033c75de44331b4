// SPDX-License-Identifier: MIT
// Changes a model's weights a little, on purpose, so that a check of accuracy can be tried on it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace paceline::onnx {

// A node with weights that reaches an output, by its place in the graph.
struct WeightedLayer {
  int node = 0;
  std::string name;
};

// The layers on the way to `output` whose weights bfloat16 cannot hold, in the order of the graph: products,
// convolutions, recurrent cells, tables, and scales of integer weights. Inner graphs are not looked at.
std::vector<WeightedLayer> layers_towards(proto::ModelProto& model, const std::string& output);

// Rounds the weights of that layer to bfloat16.
void round_to_bfloat16(proto::ModelProto& model, const WeightedLayer& layer);

// Moves every weight, and every other number that values are multiplied with or added to, up or down by one
// unit in the last place of float32, and sums with a constant up. Zeros and masks (above 1e30) stay.
void move_all_weights(proto::ModelProto& model, std::uint64_t seed);

// Share of the float32 weights that are subnormal; 0: none, or none are stored as float32.
double subnormal_share(const proto::ModelProto& model);

}  // namespace paceline::onnx
