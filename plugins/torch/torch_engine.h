// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "plugin/engine.h"
#include "support/slots.h"
#include "torch/memory_meter.h"
#include "torch/precision.h"
#include "torch/program.h"
#include "torch/tensors.h"

namespace paceline::torch_plugin {

enum class Compilation { kNone, kTorchScript, kAotInductor };

// Runs a built-in model, a TorchScript file or an AOTInductor package on the CPU, in torch::InferenceMode.
class TorchEngine : public plugin::Engine {
 public:
  TorchEngine(std::string name, Compilation compilation)
      : name_(std::move(name)), compilation_(compilation) {}
  [[nodiscard]] plugin::EngineInfo info() const override;
  [[nodiscard]] std::vector<DeclaredInput> file_inputs(const std::string& file) override;
  void load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) override;
  void bind(plugin::Slot slot, std::span<const TensorView> inputs) override;
  void enqueue(plugin::Slot slot) override;
  [[nodiscard]] std::span<const TensorView> synchronize(plugin::Slot slot) override;
  [[nodiscard]] plugin::ReadBack read_back(plugin::Slot slot) override;
  [[nodiscard]] plugin::LayerTimes profile(plugin::Slot slot, int inferences) override;

 private:
  struct SlotState {
    std::vector<at::Tensor> inputs, outputs;
    std::vector<TensorView> views;
  };
  std::unique_ptr<Program> build(const plugin::ModelSpec& model, int threads);

  std::string name_;
  Compilation compilation_;
  const Precision* precision_ = nullptr;
  Form form_;
  std::vector<TensorSpec> inputs_;
  std::unique_ptr<Program> program_;
  plugin_support::Slots<SlotState> slots_;
  MemoryMeter meter_;
};

}  // namespace paceline::torch_plugin
