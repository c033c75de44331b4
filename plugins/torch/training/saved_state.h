// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "torch/models/model.h"

namespace paceline::torch_plugin {

// What all ranks share.
struct SharedState {
  std::string model, optimizer;
  NamedTensors weights;                     // parameters and buffers
  std::vector<at::Tensor> optimizer_state;  // and the scaler's
  std::int64_t steps = 0;
};

// What is a rank's own.
struct RankState {
  std::int64_t rank = 0;
  at::Tensor random;                // state of the generator
  std::string device;               // the kind that the generator is of: cpu, cuda
  std::vector<at::Tensor> buffers;  // where DDP does not keep them equal
};

// One archive of torch::serialize. Error(kIo) with the system's words; Error(kInternal): a weight, or state
// of the optimizer, is not finite, and nothing is written.
void save_state(const std::string& file, const SharedState* shared, const RankState& rank);

// Into tensors that are there. Error(kData): cannot be read, damaged, of another model or optimizer, with
// numbers that are not finite; nothing is changed then.
void load_shared_state(const std::string& file, SharedState& into);
void load_rank_state(const std::string& file, RankState& into);

}  // namespace paceline::torch_plugin
