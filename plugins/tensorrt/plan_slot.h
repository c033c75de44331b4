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

// Where an inference finds its inputs: already on the device, or in pinned memory of the host.
enum class InputsFrom { kDevice, kPinned };

// One set of inputs and outputs of a plan: an execution context on a stream of its own, memory on the device
// in use and pinned memory of the host.
class PlanSlot {
 public:
  // Throws Error(kUnsupported) for an output whose shape only the data tell, Error(kInternal) for what the
  // library or the driver refuses.
  PlanSlot(nvinfer1::ICudaEngine& engine, int profile, const std::vector<TensorSpec>& inputs,
           const std::vector<PlanOutput>& outputs, InputsFrom from, const MessageLog& log);
  void set_inputs(std::span<const TensorView> inputs);  // copied before this returns
  void start();  // the copy of inputs that are not on the device, the model, the copy of its outputs
  std::span<const TensorView> wait();
  [[nodiscard]] double device_ns() const { return begin_.ns_until(end_); }  // of the model alone, after wait
  [[nodiscard]] nvinfer1::IExecutionContext& context() { return *context_; }

 private:
  struct Buffers {
    explicit Buffers(std::size_t size) : bytes(size), device(size), host(size) {}
    std::size_t bytes;
    DeviceBuffer device;
    PinnedBuffer host;
  };
  void choose_shapes(int profile, const std::vector<TensorSpec>& inputs);
  void add_input(const TensorSpec& input);
  void add_output(const PlanOutput& output);
  void send_inputs();
  void require(bool done, const std::string& what) const;

  const MessageLog& log_;
  OwnedStream stream_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  OwnedEvent begin_, end_;
  InputsFrom from_;
  std::vector<Buffers> inputs_, outputs_;
  std::vector<TensorView> views_;
};

}  // namespace paceline::tensorrt_plugin
