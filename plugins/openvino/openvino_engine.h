// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <openvino/runtime/core.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "plugin/engine.h"
#include "support/slots.h"

namespace paceline::openvino_plugin {

// Runs an ONNX file, an OpenVINO IR file or a compiled .blob on OpenVINO's CPU device, on the caller's input
// buffers and on output buffers of the inference request.
class OpenVinoEngine : public plugin::Engine {
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
    ov::InferRequest request;
    std::vector<ov::Tensor> outputs;
    std::vector<TensorView> views;
  };
  [[nodiscard]] bool is_compiled_file() const;
  ov::CompiledModel read_compiled(const ov::AnyMap& options);
  std::shared_ptr<ov::Model> read_graph();
  struct Profiled {
    std::shared_ptr<ov::Model> graph;  // null for a file that was compiled before
    ov::CompiledModel compiled;
    ov::InferRequest request;
  };
  Profiled profiled(SlotState& state);
  // The model once more, after one inference on the slot's inputs.
  Profiled compiled_again(SlotState& state, const ov::AnyMap& options);
  // Whether the outputs of an inference show that activations were rounded to 8 bits.
  bool rounds(SlotState& state, const std::vector<float>& outputs);
  // Layers with their mean times over some inferences of a separately compiled model. Its counters hold means
  // over all inferences so far, so the first inference is subtracted.
  std::vector<plugin::Layer> mean_times(SlotState& state, int inferences);

  plugin::ModelSpec model_;
  std::string cannot_run_;  // what is said where an inference fails
  plugin::EngineSettings settings_;
  std::vector<std::unique_ptr<MappedFile>> data_;  // that compiled models may refer to
  ov::CompiledModel compiled_;
  std::vector<std::size_t> input_order_;  // for each input of the caller the index of the model's input
  std::vector<std::string> output_names_;
  bool fixed_outputs_ = true;  // whether their shapes are independent of the data
  plugin_support::Slots<SlotState> slots_;
};

std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace paceline::openvino_plugin
