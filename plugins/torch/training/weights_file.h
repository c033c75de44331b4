// SPDX-License-Identifier: MIT
// Writes weights for other programs to load.
#pragma once
#include <cstdint>
#include <string>

#include "torch/models/model.h"

namespace paceline::torch_plugin {

// Writes a safetensors file that safetensors.torch.load_file reads as a state dict with the model's names.
// Adds num_batches_tracked, `batches`, to each batch norm, as PyTorch's state dicts have it. Error(kIo) with
// the system's words; Error(kInternal) without writing when a weight is not finite.
void save_weights(const std::string& file, const NamedTensors& weights, std::int64_t batches);

}  // namespace paceline::torch_plugin
