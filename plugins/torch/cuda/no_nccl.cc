// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "torch/cuda/cuda_training.h"

// Says that there is no NCCL, in place of nccl_group where NCCL's header of the right version was not found;
// cmake/Nccl.cmake says which one that is.
namespace paceline::cuda_plugin {

std::unique_ptr<plugin::RankGroup> join_nccl(std::shared_ptr<plugin::Store>, const plugin::GroupSpec&) {
  throw Error(ErrorCode::kUnsupported, "this plug-in was built without NCCL: " PACELINE_NO_NCCL_REASON);
}

}  // namespace paceline::cuda_plugin
