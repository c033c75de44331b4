// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "torch/training/torch_group.h"

namespace paceline::torch_plugin {

// Sends gradients in 16 bits. Error(kUsage) for names other than none, fp16_compress, bf16_compress;
// Error(kUnsupported) when the group's library cannot add up that type. Collective.
void check_comm_hook(const std::string& name, TorchGroup& group);

// Sends gradients in 16 bits like PyTorch's hook of that name: converts, divides by the number of ranks, adds
// up, and converts back.
void install_comm_hook(const std::string& name, c10d::Reducer& reducer,
                       const c10::intrusive_ptr<c10d::ProcessGroup>& group);

}  // namespace paceline::torch_plugin
