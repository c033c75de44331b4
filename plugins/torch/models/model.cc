// SPDX-License-Identifier: MIT
#include "torch/models/model.h"

namespace paceline::torch_plugin {

NamedTensors named_tensors(const Model& model) {
  NamedTensors all;
  for (const auto& item : model.named_parameters()) all.emplace_back(item.key(), item.value());
  for (const auto& item : model.named_buffers()) all.emplace_back(item.key(), item.value());
  return all;
}

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace paceline::torch_plugin
