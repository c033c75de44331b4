// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "torch/cuda/cuda_training.h"

// In place of nccl_group where NCCL's header was not found.
namespace paceline::cuda_plugin {

std::unique_ptr<plugin::RankGroup> join_nccl(std::shared_ptr<plugin::Store>, const plugin::GroupSpec&) {
  throw Error(
      ErrorCode::kUnsupported,
      "this plug-in was built without NCCL: put nccl.h (2.23 or later) into the CUDA toolkit's include "
      "folder and build again");
}

}  // namespace paceline::cuda_plugin
