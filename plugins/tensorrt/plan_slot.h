// SPDX-License-Identifier: MIT
// Holds one set of a plan's inputs and outputs on the device.
#pragma once
#include <NvInfer.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "plugin/engine.h"
#include "tensorrt/gpu.h"
#include "tensorrt/message_log.h"
#include "tensorrt/plan_shapes.h"

namespace paceline::tensorrt_plugin {

// Where an inference finds its inputs and leaves its outputs, as for LibTorch on CUDA; with kDevice the
// outputs are copied to pinned memory.
enum class Io { kDevice, kPinned, kPageable, kNone };

// How a slot runs the plan.
struct Launch {
  Io io = Io::kDevice;
  bool graph = false;    // the model is recorded as a CUDA graph in its first inference, then replayed
  bool overlap = false;  // copies are on streams of their own, and every other inference has other memory
};

// One set of inputs and outputs of a plan: execution context, streams, device memory and host memory (twice
// where copies overlap with the model).
class PlanSlot {
 public:
  // Throws Error(kInternal) when the library or the driver refuses. `outputs` must outlive it.
  PlanSlot(nvinfer1::ICudaEngine& engine, int profile, const std::vector<TensorSpec>& inputs,
           const std::vector<PlanOutput>& outputs, Launch launch, const MessageLog& log);
  PlanSlot(const PlanSlot&) = delete;
  PlanSlot& operator=(const PlanSlot&) = delete;
  ~PlanSlot();  // waits for running work
  // Copies the inputs before it returns. Error(kUnsupported) for an output whose shape depends on the data.
  void set_inputs(std::span<const TensorView> inputs);
  // Copies inputs that are not on the device, runs the model and copies its outputs; several may be started
  // before one wait. Throws Error(kUnsupported) for a plan that cannot be recorded as a graph.
  void start();
  void start_without_graph();             // TensorRT's profiler does not see replays
  std::span<const TensorView> wait();     // empty with kNone: the outputs stay on the device
  std::span<const TensorView> outputs();  // copies them from the device where necessary, and waits
  // After wait: from the first model that it waited for to the end of the last, and parts of the last.
  [[nodiscard]] double device_ns() const { return begin_.ns_until(end_); }
  [[nodiscard]] plugin::PartTimes part_ns() const;
  [[nodiscard]] nvinfer1::IExecutionContext& context() { return *context_; }

 private:
  // Memory of a tensor. One that the library reads or writes on the host has no memory on the device.
  struct Buffers {
    Buffers(std::size_t size, Io io, bool stays)
        : bytes(size),
          on_host(stays),
          device(stays ? DeviceBuffer() : DeviceBuffer(size)),
          host(size, io != Io::kPageable) {}
    [[nodiscard]] void* address() const { return on_host ? host.get() : device.address(); }
    std::size_t bytes;
    bool on_host;
    DeviceBuffer device;
    HostBuffer host;
  };
  // Buffers of an inference, and how far it has come on the device.
  struct Memory {
    std::vector<Buffers> inputs, outputs;
    std::vector<TensorView> views;
    std::optional<OwnedGraph> graph;
    OwnedEvent sent, ran, fetched;
  };
  void choose_shapes(int profile, const std::vector<TensorSpec>& inputs);
  bool take(const Buffers& buffers, const TensorView& input);
  void make_outputs(Memory& memory);
  void infer_shapes(const Memory& memory);
  void add_output(Memory& memory, const PlanOutput& output);
  void bind_address(const std::string& name, const Buffers& buffers);
  void bind_addresses(const Memory& memory);
  void send_inputs(const Memory& memory, const OwnedStream& stream);
  [[nodiscard]] bool sends() const { return launch_.io == Io::kPinned || launch_.io == Io::kPageable; }
  void fetch_outputs(const Memory& memory, const OwnedStream& stream);
  // The streams of copies.
  [[nodiscard]] const OwnedStream& to_device() const { return to_device_ ? *to_device_ : stream_; }
  [[nodiscard]] const OwnedStream& to_host() const { return to_host_ ? *to_host_ : stream_; }
  void wait_for_last() const;
  void run_model();
  void record_model(Memory& memory);
  void start(bool replay);
  void require(bool done, const std::string& what) const;

  const MessageLog& log_;
  const std::vector<PlanOutput>& plan_outputs_;
  std::vector<std::string> input_names_;
  OwnedStream stream_;
  std::optional<OwnedStream> to_device_, to_host_;  // where copies overlap with the model
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  // Around the model: of the first inference that a wait waits for, and of later ones.
  OwnedEvent begin_, later_begin_, end_;
  OwnedEvent sending_, fetching_;     // before the last copies of inputs, and of outputs
  int started_ = 0, waited_for_ = 0;  // inferences since the last wait, and before it
  Launch launch_;
  std::vector<Memory> memories_;
  std::size_t turn_ = 0;  // whose inference is the last
};

}  // namespace paceline::tensorrt_plugin
