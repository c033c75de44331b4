// SPDX-License-Identifier: MIT
#pragma once
#include <NvInfer.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "tensorrt/gpu.h"
#include "tensorrt/message_log.h"
#include "tensorrt/plan_shapes.h"

namespace paceline::tensorrt_plugin {

// One set of inputs and outputs of a plan: an execution context on a stream of its own, memory on the device
// in use, outputs also in pinned memory of the host.
class PlanSlot {
 public:
  // Throws Error(kUnsupported) for an output whose shape only the data tell, Error(kInternal) for what the
  // library or the driver refuses.
  PlanSlot(nvinfer1::ICudaEngine& engine, int profile, const std::vector<TensorSpec>& inputs,
           const std::vector<PlanOutput>& outputs, const MessageLog& log);
  void set_inputs(std::span<const TensorView> inputs);  // copied to the device before this returns
  void start();                                         // the model, and the copy of its outputs
  std::span<const TensorView> wait();
  [[nodiscard]] nvinfer1::IExecutionContext& context() { return *context_; }

 private:
  struct Output {
    std::string name;
    DeviceBuffer device;
    PinnedBuffer host;
  };
  void choose_shapes(int profile, const std::vector<TensorSpec>& inputs);
  void add_input(const TensorSpec& input);
  void add_output(const PlanOutput& output);
  void require(bool done, const std::string& what) const;

  const MessageLog& log_;
  OwnedStream stream_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  std::vector<DeviceBuffer> inputs_;
  std::vector<Output> outputs_;
  std::vector<TensorView> views_;
};

}  // namespace paceline::tensorrt_plugin
