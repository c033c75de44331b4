// SPDX-License-Identifier: MIT
// Row of a model in the plug-in: inputs, how weights are drawn, names in checkpoints.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "torch/weights.h"

namespace paceline::torch_plugin {

struct InputRow {
  std::string_view name;
  DType dtype;
  std::vector<std::int64_t> per_sample;  // shape without the batch; -n means any extent from 1 to n
};

struct ModelRow {
  std::string name;
  std::function<std::shared_ptr<Model>()> build;
  std::vector<InputRow> inputs;
  std::span<const WeightRule> weights;
  CheckpointNames checkpoint;
};

}  // namespace paceline::torch_plugin
