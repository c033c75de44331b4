// SPDX-License-Identifier: MIT
#pragma once
#include <NvInfer.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/engine.h"
#include "support/layer_work.h"
#include "support/slots.h"
#include "tensorrt/gpu.h"
#include "tensorrt/message_log.h"
#include "tensorrt/plan_shapes.h"
#include "tensorrt/plan_slot.h"

namespace paceline::tensorrt_plugin {

// Runs a plan on a GPU. The options io and cuda_graph say where tensors are and how the model is launched.
class PlanEngine : public plugin::Engine {
 public:
  PlanEngine() = default;
  PlanEngine(const PlanEngine&) = delete;
  PlanEngine& operator=(const PlanEngine&) = delete;
  ~PlanEngine() override { close_plan(); }
  [[nodiscard]] plugin::EngineInfo info() const override;
  // An input that the plan leaves open has the shape that its first profile is tuned for, as in trtexec.
  [[nodiscard]] std::vector<DeclaredInput> file_inputs(const std::string& file) override;
  void load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) override;
  void bind(plugin::Slot slot, std::span<const TensorView> inputs) override;
  void enqueue(plugin::Slot slot) override;
  [[nodiscard]] std::span<const TensorView> synchronize(plugin::Slot slot) override;
  [[nodiscard]] std::span<const TensorView> fetch_outputs(plugin::Slot slot) override;
  [[nodiscard]] plugin::ReadBack read_back(plugin::Slot slot) override;
  [[nodiscard]] plugin::LayerTimes profile(plugin::Slot slot, int inferences) override;
  [[nodiscard]] std::optional<double> device_ns(plugin::Slot slot) const override;
  [[nodiscard]] plugin::PartTimes part_ns(plugin::Slot slot) const override;

 private:
  void close_plan() noexcept;
  void open_plan(const std::string& file, const std::string& bytes);
  PlanSlot& bound(plugin::Slot slot);
  [[nodiscard]] std::vector<plugin_support::LayerWork> layers(PlanSlot& slot) const;

  plugin::ModelSpec model_;
  std::optional<Gpu> gpu_;
  MessageLog log_;
  // Each is used by those below it.
  std::unique_ptr<nvinfer1::IRuntime> runtime_;
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  std::vector<ShapeProfile> profiles_;
  int profile_ = 0;  // the profile that holds the shapes of this case
  std::vector<PlanOutput> outputs_;
  Launch launch_;
  plugin_support::Slots<std::unique_ptr<PlanSlot>> slots_;
};

}  // namespace paceline::tensorrt_plugin
