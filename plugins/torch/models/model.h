// SPDX-License-Identifier: MIT
#pragma once
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace paceline::torch_plugin {

// A built-in model: a torch::nn module tree whose parameter names are those of the public checkpoints,
// uninitialised until weights.h fills it. The batch size is never a constant in it, so that one trace serves
// every batch size.
class Model : public torch::nn::Module {
 public:
  // Inputs in the order of the model's table row.
  virtual at::Tensor run(std::span<const at::Tensor> inputs) = 0;

  std::vector<std::string> left_out;  // tensors in the file of weights that the output does not need
};

// Parameters and buffers under their dotted names.
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
NamedTensors named_tensors(const Model& model);
std::int64_t parameter_count(const Model& model);  // buffers are not parameters

// Makes a layer and registers it under `name`.
template <typename Layer, typename... Args>
std::shared_ptr<Layer> add_layer(torch::nn::Module& parent, const std::string& name, Args&&... args) {
  return parent.register_module(name, std::make_shared<Layer>(std::forward<Args>(args)...));
}

}  // namespace paceline::torch_plugin
