// SPDX-License-Identifier: MIT
#include "tensorrt/plan_slot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "tensorrt/tensors.h"

namespace paceline::tensorrt_plugin {

PlanSlot::PlanSlot(nvinfer1::ICudaEngine& engine, int profile, const std::vector<TensorSpec>& inputs,
                   const std::vector<PlanOutput>& outputs, Launch launch, const MessageLog& log)
    : log_(log), plan_outputs_(outputs), context_(engine.createExecutionContext()), launch_(launch) {
  require(context_ != nullptr, "cannot make an execution context");
  choose_shapes(profile, inputs);
  for (const auto& input : inputs) add_input(input, is_on_host(engine, input.name));
}

// Waits, because a kernel or a copy may still use the memory and the context.
PlanSlot::~PlanSlot() {
  (void)driver().wait_for_stream(stream_.get());
}

void PlanSlot::require(bool done, const std::string& what) const {
  if (!done) throw Error(ErrorCode::kInternal, fmt::format("{}: {}", what, log_.reason()));
}

void PlanSlot::choose_shapes(int profile, const std::vector<TensorSpec>& inputs) {
  require(context_->setOptimizationProfileAsync(profile, stream_.get()), "cannot choose a profile");
  stream_.wait();
  for (const auto& input : inputs)
    require(context_->setInputShape(input.name.c_str(), to_dims(input.shape)),
            fmt::format("cannot set the shape of input '{}'", input.name));
}

void PlanSlot::add_input(const TensorSpec& input, bool on_host) {
  const auto bytes = static_cast<std::size_t>(element_count(input.shape)) * dtype_size_bytes(input.dtype);
  bind_address(input.name, inputs_.emplace_back(bytes, launch_.io, on_host));
}

void PlanSlot::bind_address(const std::string& name, const Buffers& memory) {
  require(context_->setTensorAddress(name.c_str(), memory.address()),
          fmt::format("cannot bind tensor '{}'", name));
}

// A graph recorded earlier holds old addresses and shapes.
void PlanSlot::make_outputs() {
  graph_.reset();
  views_.clear();
  outputs_.clear();
  infer_shapes();
  for (const auto& output : plan_outputs_) add_output(output);
}

// The library reads the values of inputs on the host here, because shapes of outputs may depend on them.
void PlanSlot::infer_shapes() {
  const bool has_values =
      std::any_of(inputs_.begin(), inputs_.end(), [](const Buffers& input) { return input.on_host; });
  if (has_values && context_->inferShapes(0, nullptr) != 0)
    throw Error(ErrorCode::kData,
                fmt::format("the values of the inputs give no output shapes: {}", log_.reason()));
}

void PlanSlot::add_output(const PlanOutput& output) {
  const auto shape = from_dims(context_->getTensorShape(output.name.c_str()));
  if (std::any_of(shape.begin(), shape.end(), [](auto extent) { return extent < 0; }))
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("the shape of output '{}' depends on the data; such models are not run on TensorRT",
                    output.name));
  TensorView view{output.name, nullptr, output.dtype, shape, {}, {}};
  const auto& memory = outputs_.emplace_back(view.size_bytes(), launch_.io, output.on_host);
  view.data = memory.host.get();
  views_.push_back(view);
  bind_address(output.name, memory);
}

void PlanSlot::set_inputs(std::span<const TensorView> inputs) {
  bool have_values_changed = false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    have_values_changed = take(inputs_[i], inputs[i]) || have_values_changed;
  if (views_.size() < plan_outputs_.size() || have_values_changed) make_outputs();
  if (sends()) return;  // every inference copies them
  send_inputs();
  stream_.wait();
}

// Returns whether values changed that the library reads on the host.
bool PlanSlot::take(const Buffers& memory, const TensorView& input) {
  const bool changes = memory.on_host && std::memcmp(memory.host.get(), input.data, input.size_bytes()) != 0;
  std::memcpy(memory.host.get(), input.data, input.size_bytes());
  return changes;
}

void PlanSlot::send_inputs() {
  for (const auto& input : inputs_)
    if (!input.on_host)
      check(driver().copy_to_device(input.device.get(), input.host.get(), input.bytes, stream_.get()),
            "cannot copy an input to the device");
}

void PlanSlot::fetch_outputs() {
  for (const auto& output : outputs_)
    if (!output.on_host)
      check(driver().copy_to_host(output.host.get(), output.device.get(), output.bytes, stream_.get()),
            "cannot copy an output to the host");
}

void PlanSlot::run_model() {
  require(context_->enqueueV3(stream_.get()), "the model cannot run on these inputs");
}

// TensorRT needs one plain run with these shapes before a capture: one-time work must not be part of a graph.
void PlanSlot::record_model() {
  run_model();
  stream_.wait();
  graph_.emplace(stream_, [&] { return context_->enqueueV3(stream_.get()); });
}

void PlanSlot::start() {
  start(launch_.graph);
}

void PlanSlot::start_without_graph() {
  start(false);
}

void PlanSlot::start(bool replay) {
  if (sends()) {
    sending_.record(stream_);
    send_inputs();
  }
  if (replay && !graph_) record_model();
  (started_++ == 0 ? begin_ : later_begin_).record(stream_);
  replay ? graph_->launch(stream_) : run_model();
  end_.record(stream_);
  if (launch_.io == Io::kNone) return;
  fetch_outputs();
  fetched_.record(stream_);
}

std::span<const TensorView> PlanSlot::wait() {
  waited_for_ = std::exchange(started_, 0);
  stream_.wait();
  if (launch_.io == Io::kNone) return {};
  return views_;
}

plugin::PartTimes PlanSlot::part_ns() const {
  plugin::PartTimes times;
  const auto& begin = waited_for_ > 1 ? later_begin_ : begin_;
  if (sends()) times.inputs_ns = sending_.ns_until(begin);
  times.model_ns = begin.ns_until(end_);
  if (launch_.io != Io::kNone) times.outputs_ns = end_.ns_until(fetched_);
  return times;
}

std::span<const TensorView> PlanSlot::outputs() {
  if (launch_.io == Io::kNone) fetch_outputs();
  stream_.wait();
  return views_;
}

}  // namespace paceline::tensorrt_plugin
