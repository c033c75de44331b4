// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "plugin/rank_group.h"

// Which device a rank gets, and that no two ranks of an NCCL group share one.
namespace paceline::cuda_plugin {

// The device of the rank that asks for "cuda:<local rank>" where the driver shows `count` devices. A launcher
// may show every rank a device of its own (srun --gpus-per-task=1), so the local rank counts modulo `count`;
// with fewer devices than ranks, ranks share. Errors as device_index.
int device_of_rank(const std::string& wanted, int count);

// Every rank says which device it has (`identity`: unique among all hosts, its UUID) and looks at the others.
// Error(kUnavailable) on all ranks when two have the same, because NCCL refuses that in words of its own;
// also when a rank does not answer within `timeout_s`.
void refuse_shared_devices(plugin::Store& store, const plugin::GroupSpec& spec, const std::string& identity);

}  // namespace paceline::cuda_plugin
