// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "plugin/communicator.h"
#include "plugin/rank_group.h"

namespace paceline::torch_plugin {

// Collectives over a group of this plug-in, on its device. Free of LibTorch's headers.
std::unique_ptr<plugin::Communicator> make_communicator(plugin::RankGroup& group);

}  // namespace paceline::torch_plugin
