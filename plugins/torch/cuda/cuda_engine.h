// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/engine.h"
#include "support/slots.h"
#include "torch/cuda/device.h"
#include "torch/cuda/graph.h"
#include "torch/cuda/host_copies.h"
#include "torch/cuda/switches.h"
#include "torch/program.h"
#include "torch/tensors.h"

namespace paceline::cuda_plugin {

enum class Compilation { kNone, kTorchScript, kAotInductor };

// Runs a built-in model, a TorchScript file or an AOTInductor package on one CUDA device, in
// torch::InferenceMode, on its own stream. Inputs are on the device from bind on, or copied in enqueue, as
// outputs to the host are; with io: none these are copied in fetch_outputs.
class CudaEngine : public plugin::Engine {
 public:
  CudaEngine(std::string name, Compilation compilation) : name_(std::move(name)), compilation_(compilation) {}
  [[nodiscard]] plugin::EngineInfo info() const override;
  void load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) override;
  void bind(plugin::Slot slot, std::span<const TensorView> inputs) override;
  void enqueue(plugin::Slot slot) override;
  [[nodiscard]] std::span<const TensorView> synchronize(plugin::Slot slot) override;
  [[nodiscard]] std::span<const TensorView> fetch_outputs(plugin::Slot slot) override;
  [[nodiscard]] plugin::ReadBack read_back(plugin::Slot slot) override;
  [[nodiscard]] plugin::LayerTimes profile(plugin::Slot slot, int inferences) override;
  [[nodiscard]] std::optional<double> device_ns(plugin::Slot slot) const override;
  void flush_caches() override;
  [[nodiscard]] plugin::PartTimes part_ns(plugin::Slot slot) const override;

 private:
  // Buffers of an inference, and how far it has come on the device.
  struct Memory {
    HostCopies copies;
    std::vector<at::Tensor> outputs;             // on the device
    std::unique_ptr<at::cuda::CUDAGraph> graph;  // of `outputs` and the inputs of `copies`
    at::cuda::CUDAEvent sent{cudaEventDefault}, ran{cudaEventDefault}, fetched{cudaEventDefault};
  };
  struct SlotState {
    std::vector<Memory> memories;  // two where copies overlap with the model
    std::size_t turn = 0;          // whose inference is the last
    std::vector<TensorView> views;
    // Around the model: of the first inference that a synchronize waits for, and of later ones.
    at::cuda::CUDAEvent begin{cudaEventDefault}, later_begin{cudaEventDefault}, end{cudaEventDefault};
    // Before the last copies of inputs, and of outputs.
    at::cuda::CUDAEvent sending{cudaEventDefault}, fetching{cudaEventDefault};
    int started = 0, waited_for = 0;  // inferences since the last synchronize, and before it
    [[nodiscard]] Memory& last() { return memories[turn]; }
  };
  [[nodiscard]] std::unique_ptr<torch_plugin::Program> build(const plugin::ModelSpec& model,
                                                             int threads) const;
  void launch(Memory& memory);
  void send(SlotState& state);
  void fetch(SlotState& state);

  std::string name_;
  Compilation compilation_;
  int device_ = 0;
  DeviceInfo device_info_;
  Switches switches_;
  torch_plugin::Form form_;
  std::optional<c10::cuda::CUDAStream> stream_;  // so that lanes of one process do not wait for each other
  std::optional<c10::cuda::CUDAStream> to_device_, to_host_;  // of copies; `stream_` unless they overlap
  std::vector<TensorSpec> inputs_;
  std::unique_ptr<torch_plugin::Program> program_;
  plugin_support::Slots<SlotState> slots_;
  at::Tensor scratch_;  // as large as the L2 cache, which writing it empties
};

}  // namespace paceline::cuda_plugin
