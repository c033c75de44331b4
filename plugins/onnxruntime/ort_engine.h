// SPDX-License-Identifier: MIT
#pragma once
#include <onnxruntime_cxx_api.h>

#include <optional>
#include <string>
#include <vector>

#include "onnxruntime/model_io.h"
#include "onnxruntime/profile.h"
#include "onnxruntime/providers.h"
#include "plugin/engine.h"
#include "support/slots.h"

namespace paceline::ort_plugin {

// Runs an ONNX file on one of ONNX Runtime's providers, on the caller's input buffers and on output buffers
// that stay the same from one inference to the next.
class OrtEngine : public plugin::Engine {
 public:
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
    std::vector<TensorView> inputs;
    std::optional<Ort::IoBinding> binding;
    std::vector<Ort::Value> outputs;  // one per model output; empty until the first inference
    std::vector<TensorView> views;    // of the outputs that are plain tensors
  };
  void bind_inputs(SlotState& state, std::span<const TensorView> inputs);
  void bind_outputs(SlotState& state);
  void keep_outputs(SlotState& state) const;
  [[nodiscard]] std::vector<ProfiledRun> profiled(const SlotState& state, Ort::SessionOptions options,
                                                  int times) const;
  // Types and shapes of one inference, whose times mean nothing.
  [[nodiscard]] std::vector<ProfiledNode> profiled_once(const SlotState& state,
                                                        Ort::SessionOptions options) const;
  // A layer without its time; in TF32 where the provider rounds to it.
  [[nodiscard]] plugin_support::LayerWork described(const ProfiledNode& node) const;
  void name_float_layers(std::vector<plugin_support::LayerWork>& layers) const;
  struct Executed {
    std::vector<plugin_support::LayerWork> layers;
    std::string elsewhere;  // which nodes another provider ran
    std::vector<ProfiledNode> nodes;
  };
  [[nodiscard]] Executed executed_layers(const SlotState& state) const;
  [[nodiscard]] std::vector<float> numbers(const SlotState& state, const Ort::SessionOptions& options) const;
  // Marks products that round activations to 8 bits as int8. Whether there are any.
  bool set_rounded(const SlotState& state, std::vector<plugin_support::LayerWork>& layers) const;
  [[nodiscard]] std::optional<double> unpadded_flops(const SlotState& state,
                                                     const std::vector<ProfiledNode>& nodes) const;

  plugin::ModelSpec model_;
  std::string cannot_run_;  // what is said where an inference fails
  plugin::EngineSettings settings_;
  Provider provider_;
  std::optional<Ort::Session> session_;
  std::vector<ModelOutput> outputs_;
  int threads_ = 0;  // as reported
  plugin_support::Slots<SlotState> slots_;
};

}  // namespace paceline::ort_plugin
