// SPDX-License-Identifier: MIT
// Works out the precision and the operations of a node in ONNX Runtime's profile.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "support/layer_work.h"

namespace paceline::ort_plugin {

// A tensor as ONNX Runtime's profile describes it.
struct ProfiledTensor {
  std::string type;  // float, uint8, …
  Shape shape;
};

// An executed node with all its inputs.
struct ProfiledNode {
  std::string name;
  std::string op;
  std::string provider;  // that ran it
  std::vector<ProfiledTensor> inputs, outputs;
  double time_ns = 0;                 // of the host
  std::optional<double> device_ns{};  // of its kernels and copies on a device; empty: the profile has none
};

// A kernel or copy on a device that no node started.
struct ProfiledKernel {
  std::string name;
  double time_ns = 0;
  std::size_t at = 0;  // number of nodes before it
};

struct ProfiledRun {
  std::vector<ProfiledNode> nodes{};  // in order; a node in a loop occurs once per iteration
  std::vector<ProfiledKernel> alone{};
};

// Precision and operations of a node. Convolutions, matrix products, attention and recurrent layers have
// FLOPs; where a node is quantised, its integers determine the precision, whatever its outputs are.
plugin_support::LayerWork work_of(const ProfiledNode& node);

// A convolution whose channels may be filled up to whole blocks, with the weights that the file has for it.
// nullopt: these cannot be its weights.
std::optional<ProfiledNode> without_padding(ProfiledNode node, const Shape& weights);
bool is_convolution(const ProfiledNode& node);

}  // namespace paceline::ort_plugin
