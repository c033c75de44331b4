// SPDX-License-Identifier: MIT
// A separate plug-in: engines `eager`, `torchscript` and `aotinductor`, the trainer, `nccl` and
// the probe for `--device cuda`.
#include "plugin/plugin.h"

#include "torch/cuda/cuda_engine.h"
#include "torch/cuda/cuda_training.h"
#include "torch/cuda/cuda_versions.h"
#include "torch/cuda/peak_probe.h"
#include "torch/training/make.h"
#include "torch/training/torch_communicator.h"

namespace paceline::cuda_plugin {
namespace {

std::unique_ptr<plugin::Engine> make_eager() {
  return std::make_unique<CudaEngine>("eager", Compilation::kNone);
}
std::unique_ptr<plugin::Engine> make_torchscript() {
  return std::make_unique<CudaEngine>("torchscript", Compilation::kTorchScript);
}
std::unique_ptr<plugin::Engine> make_aotinductor() {
  return std::make_unique<CudaEngine>("aotinductor", Compilation::kAotInductor);
}

constexpr plugin::EngineEntry kEngines[] = {
    {"eager", "LibTorch on CUDA, operator by operator", make_eager},
    {"torchscript", "LibTorch on CUDA, traced, frozen and optimised for inference", make_torchscript},
    {"aotinductor", "LibTorch on CUDA, compiled ahead of time by AOTInductor", make_aotinductor},
};
constexpr plugin::TrainerEntry kTrainers[] = {{"cuda", make_cuda_trainer}};
constexpr plugin::BackendEntry kBackends[] = {
    {"nccl", torch_plugin::connect_store, join_nccl},
    {"gloo", torch_plugin::connect_store, join_gloo_on_device},
};
constexpr plugin::CommunicatorEntry kCommunicators[] = {{"nccl", torch_plugin::make_communicator},
                                                        {"gloo", torch_plugin::make_communicator}};
constexpr plugin::ProbeEntry kProbes[] = {{"cuda", make_peak_probe}};
const plugin::Plugin kPlugin{.abi_version = plugin::kAbiVersion,
                             .name = "cuda",
                             .versions = library_versions,
                             .engines = kEngines,
                             .trainers = kTrainers,
                             .backends = kBackends,
                             .communicators = kCommunicators,
                             .probes = kProbes};

}  // namespace
}  // namespace paceline::cuda_plugin

PACELINE_PLUGIN(paceline::cuda_plugin::kPlugin)
