// SPDX-License-Identifier: MIT
// Writes and reads a trainer's state as the files of a checkpoint.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "torch/models/model.h"

namespace paceline::torch_plugin {

// The state that all ranks share.
struct SharedState {
  std::string model, optimizer;
  NamedTensors weights;                     // parameters and buffers
  std::vector<at::Tensor> optimizer_state;  // and the scaler's
  std::int64_t steps = 0;
};

// The state of a single rank.
struct RankState {
  std::int64_t rank = 0;
  at::Tensor random;                // state of the generator
  std::string device;               // kind of device that the generator is for: cpu, cuda
  std::vector<at::Tensor> buffers;  // where DDP does not keep them equal
};

// Throws Error(kInternal), which names the first weight or state of the optimizer that is not finite.
void check_finite(const NamedTensors& weights, const std::vector<at::Tensor>& optimizer);

// Writes one archive of torch::serialize. Error(kIo) with the system's words; Error(kInternal) without
// writing when a weight or a state of the optimizer is not finite.
void save_state(const std::string& file, const SharedState* shared, const RankState& rank);

// Loads into existing tensors. Error(kData), changing nothing, for a file that cannot be read, is damaged,
// belongs to another model or optimizer, or holds numbers that are not finite.
void load_shared_state(const std::string& file, SharedState& into);
void load_rank_state(const std::string& file, RankState& into);

}  // namespace paceline::torch_plugin
