// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "support/layer_work.h"

namespace paceline::ort_plugin {

// A tensor as ONNX Runtime's profile describes it.
struct ProfiledTensor {
  std::string type;  // float, uint8, …
  Shape shape;
};

// A node that ran, with every input it has.
struct ProfiledNode {
  std::string name;
  std::string op;
  std::vector<ProfiledTensor> inputs, outputs;
  double time_ns = 0;
};

// Arithmetic and operations of a node. Convolutions, matrix products, attention and recurrent layers have
// FLOPs; where a node is quantised, its integers name the precision, whatever its outputs are.
plugin_support::LayerWork work_of(const ProfiledNode& node);

}  // namespace paceline::ort_plugin
