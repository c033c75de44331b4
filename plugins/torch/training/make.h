// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "plugin/rank_group.h"
#include "plugin/trainer.h"

// The functions of training that a plug-in's table names; free of LibTorch's headers.
namespace paceline::torch_plugin {

std::unique_ptr<plugin::Trainer> make_cpu_trainer();

// Serves c10d's TCPStore or connects to it, see Rendezvous.
std::shared_ptr<plugin::Store> connect_store(const plugin::Rendezvous& where);

// Error(kUnavailable) names the ranks that did not come.
std::unique_ptr<plugin::RankGroup> join_gloo(std::shared_ptr<plugin::Store> store,
                                             const plugin::GroupSpec& spec);

}  // namespace paceline::torch_plugin
