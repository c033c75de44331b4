// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "plugin/trainer.h"

namespace paceline::torch_test {

// A trainer whose layers sleep instead of computing, so that more ranks than cores do not compete for them.
// Its gradients go through c10d's Reducer in buckets and over the group, as those of every model. Each rank
// learns nothing that depends on its data. From the environment:
//   WAIT_LAYERS       number of layers (default 8), each with one parameter tensor
//   WAIT_LAYER_BYTES  of that tensor (default 65536)
//   WAIT_LAYER_US     what one layer sleeps in a step (default 3000): a third forward, the rest backward
//   WAIT_DATA_US      by how much a batch comes late with several ranks (default 0), as from a disk they
//   share WAIT_LATE_US      what rank 1 sleeps in addition (default 0), forward
std::unique_ptr<plugin::Trainer> make_waiting_trainer();

}  // namespace paceline::torch_test
