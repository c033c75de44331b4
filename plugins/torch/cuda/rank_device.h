// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "plugin/rank_group.h"

// Chooses the device of a rank, and checks that no two ranks of an NCCL group share one.
namespace paceline::cuda_plugin {

// The device of a rank where the driver shows `count` devices. A launcher may show each rank its own device
// (srun --gpus-per-task=1), so the local rank counts modulo `count`; with fewer devices than ranks, ranks
// share. Throws the errors of device_index.
int device_of_rank(int local_rank, int count);

// Every rank publishes its device (`identity`: unique among all hosts, its UUID) and compares it with the
// others. Error(kUnavailable) on all ranks when two have the same, because NCCL's own message for that is
// unclear, and when a rank does not answer within `timeout_s`.
void refuse_shared_devices(plugin::Store& store, const plugin::GroupSpec& spec, const std::string& identity);

}  // namespace paceline::cuda_plugin
