// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "torch/cuda/cuda_training.h"
#include "torch/cuda/device.h"
#include "torch/cuda/switches.h"
#include "torch/errors.h"
#include "torch/training/peer_errors.h"
#include "torch/training/torch_group.h"
#include "torch/training/torch_store.h"

namespace paceline::cuda_plugin {
namespace {

using torch_plugin::TorchGroup;
using torch_plugin::TorchStore;

// Connected before anything is timed: NCCL would do it in the first collective.
TorchGroup::Backend make_nccl(TorchStore& store, const plugin::GroupSpec& spec, at::Device device) {
  auto options = c10d::ProcessGroupNCCL::Options::create(/*is_high_priority_stream=*/false);
  options->timeout = std::chrono::milliseconds(static_cast<std::int64_t>(spec.timeout_s * 1000));
  TorchGroup::Backend nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(
      store.keys_of_next_group(), spec.rank, spec.world, std::move(options));
  nccl->setBoundDeviceId(device);
  nccl->eagerConnectSingleDevice(device);
  return nccl;
}

}  // namespace

std::unique_ptr<plugin::RankGroup> join_nccl(std::shared_ptr<plugin::Store> store,
                                             const plugin::GroupSpec& spec) {
  if (spec.device.kind != DeviceKind::kCuda)
    throw Error(ErrorCode::kUnsupported, "nccl reduces tensors of CUDA devices; use gloo on a CPU");
  auto* torch_store = dynamic_cast<TorchStore*>(store.get());
  if (!torch_store) throw Error(ErrorCode::kUsage, "store and group must come from the same plug-in");
  const int index = device_index(fmt::format("cuda:{}", spec.device.index), count_devices());
  const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
  try {
    auto nccl = make_nccl(*torch_store, spec, device);
    return std::make_unique<TorchGroup>(std::move(store), std::move(nccl), TorchGroup::BackendType::NCCL,
                                        device);
  } catch (const std::exception& e) {
    throw Error(ErrorCode::kUnavailable,
                fmt::format("rank {} of {} cannot join the group: {}", spec.rank, spec.world,
                            torch_plugin::peer_failure(e).value_or(torch_plugin::reason_of(e))));
  }
}

}  // namespace paceline::cuda_plugin
