// SPDX-License-Identifier: MIT
// The exported description: engines `eager`, `torchscript`, `aotinductor`; the exporters; the trainer,
// `gloo`.
#include "plugin/plugin.h"

#include "torch/export/exporters.h"
#include "torch/torch_engine.h"
#include "torch/training/make.h"
#include "torch/training/torch_communicator.h"
#include "torch/versions.h"

namespace paceline::torch_plugin {
namespace {

std::unique_ptr<plugin::Engine> make_eager() {
  return std::make_unique<TorchEngine>("eager", Compilation::kNone);
}
std::unique_ptr<plugin::Engine> make_torchscript() {
  return std::make_unique<TorchEngine>("torchscript", Compilation::kTorchScript);
}

std::unique_ptr<plugin::Engine> make_aotinductor() {
  return std::make_unique<TorchEngine>("aotinductor", Compilation::kAotInductor);
}

constexpr plugin::EngineEntry kEngines[] = {
    {"eager", "LibTorch, operator by operator", make_eager},
    {"torchscript", "LibTorch, traced, frozen and optimised for inference", make_torchscript},
    {"aotinductor", "LibTorch, compiled ahead of time by AOTInductor", make_aotinductor},
};
constexpr plugin::ExporterEntry kExporters[] = {
    {"onnx", make_onnx_exporter},
    {"torchscript", make_script_exporter},
};
constexpr plugin::TrainerEntry kTrainers[] = {{"cpu", make_cpu_trainer}};
constexpr plugin::BackendEntry kBackends[] = {{"gloo", connect_store, join_gloo}};
constexpr plugin::CommunicatorEntry kCommunicators[] = {{"gloo", make_communicator}};
const plugin::Plugin kPlugin = {plugin::kAbiVersion, "torch",   library_versions, kEngines, kExporters, {},
                                kTrainers,           kBackends, kCommunicators};

}  // namespace
}  // namespace paceline::torch_plugin

PACELINE_PLUGIN(paceline::torch_plugin::kPlugin)
