// SPDX-License-Identifier: MIT
// Makes a group of ranks on NCCL.
#include <ATen/Context.h>
#include <fmt/format.h>
#include <torch/csrc/cuda/nccl.h>

#include <cstdlib>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "torch/cuda/cuda_training.h"
#include "torch/cuda/device.h"
#include "torch/cuda/rank_device.h"
#include "torch/errors.h"
#include "torch/training/peer_errors.h"
#include "torch/training/torch_group.h"
#include "torch/training/torch_store.h"

namespace paceline::cuda_plugin {
namespace {

using torch_plugin::TorchGroup;
using torch_plugin::TorchStore;

std::string version_text(std::uint64_t major, std::uint64_t minor, std::uint64_t patch) {
  return fmt::format("{}.{}.{}", major, minor, patch);
}

// The options made here hold one of NCCL's structures, whose size changes between releases: a LibTorch built
// for another release would write beyond it.
void check_version() {
  const auto torchs = torch::cuda::nccl::version();  // major, minor and patch in 32, 16 and 16 bits
  const auto here = version_text(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH);
  const auto there = version_text(torchs >> 32U, (torchs >> 16U) & 0xffffU, torchs & 0xffffU);
  if (here == there) return;
  throw Error(ErrorCode::kUnsupported, fmt::format("this plug-in was built for NCCL {}, but LibTorch for "
                                                   "NCCL {}; use a build for this PyTorch, or --backend gloo",
                                                   here, there));
}

// Makes the library abort the communicators when a collective fails, unless the user has set it, so that the
// next call on the group throws. By default it would end the process without an error to us.
void choose_error_handling() {
  ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", std::to_string(c10d::CleanUpOnly).c_str(), /*overwrite=*/0);
  ::setenv("TORCH_NCCL_ENABLE_MONITORING", "0", /*overwrite=*/0);
  ::setenv("TORCH_NCCL_RETHROW_CUDA_ERRORS", "0", /*overwrite=*/0);
  // By default a minute passes between a failure and the abort of the communicators, for a dump.
  ::setenv("TORCH_NCCL_DUMP_ON_TIMEOUT", "0", /*overwrite=*/0);
  ::setenv("TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "100", /*overwrite=*/0);
}

// Connects before anything is timed: NCCL would do it in the first collective.
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
  check_version();
  const int index = device_of_rank(spec.device.index, count_devices());
  const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
  auto* torch_store = dynamic_cast<TorchStore*>(store.get());
  if (!torch_store) throw Error(ErrorCode::kUsage, "store and group must come from the same plug-in");
  refuse_shared_devices(*store, spec, device_identity(index));
  choose_error_handling();
  if (spec.deterministic)
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);  // read by NCCL's group
  try {
    auto nccl = make_nccl(*torch_store, spec, device);
    auto control = torch_plugin::make_gloo(*torch_store, spec);
    return std::make_unique<TorchGroup>(std::move(store), std::move(nccl), TorchGroup::BackendType::NCCL,
                                        device, std::move(control));
  } catch (const std::exception& e) {
    if (torch_plugin::out_of_memory(e)) throw std::bad_alloc();
    throw Error(ErrorCode::kUnavailable,
                fmt::format("rank {} of {} cannot join the group: {}", spec.rank, spec.world,
                            torch_plugin::peer_failure(e).value_or(torch_plugin::reason_of(e))));
  }
}

}  // namespace paceline::cuda_plugin
