// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "plugin/rank_group.h"
#include "plugin/trainer.h"

// The functions of training on a CUDA device that the plug-in's table names.
namespace paceline::cuda_plugin {

std::unique_ptr<plugin::Trainer> make_cuda_trainer();

// A group on NCCL, one device per rank. Error(kUnavailable) names the ranks that did not come.
std::unique_ptr<plugin::RankGroup> join_nccl(std::shared_ptr<plugin::Store> store,
                                             const plugin::GroupSpec& spec);

// A group on gloo, whose ranks may share a device; their gradients travel through host memory.
std::unique_ptr<plugin::RankGroup> join_gloo_on_device(std::shared_ptr<plugin::Store> store,
                                                       const plugin::GroupSpec& spec);

}  // namespace paceline::cuda_plugin
