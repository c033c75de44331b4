// SPDX-License-Identifier: MIT
#include "tensorrt/plan_slot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "base/error.h"
#include "tensorrt/tensors.h"

namespace paceline::tensorrt_plugin {

PlanSlot::PlanSlot(nvinfer1::ICudaEngine& engine, int profile, const std::vector<TensorSpec>& inputs,
                   const std::vector<PlanOutput>& outputs, Launch launch, const MessageLog& log)
    : log_(log),
      plan_outputs_(outputs),
      context_(engine.createExecutionContext()),
      launch_(launch),
      memories_(launch.overlap ? 2 : 1) {
  require(context_ != nullptr, "cannot make an execution context");
  if (launch.overlap) to_device_.emplace(), to_host_.emplace();
  choose_shapes(profile, inputs);
  for (const auto& input : inputs) {
    input_names_.push_back(input.name);
    const auto bytes = static_cast<std::size_t>(element_count(input.shape)) * dtype_size_bytes(input.dtype);
    for (auto& memory : memories_)
      memory.inputs.emplace_back(bytes, launch_.io, is_on_host(engine, input.name));
  }
}

// Waits, because a kernel or a copy may still use the memory and the context.
PlanSlot::~PlanSlot() {
  for (const OwnedStream& stream : {std::cref(to_device()), std::cref(stream_), std::cref(to_host())})
    (void)driver().wait_for_stream(stream.get());
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

void PlanSlot::bind_address(const std::string& name, const Buffers& buffers) {
  require(context_->setTensorAddress(name.c_str(), buffers.address()),
          fmt::format("cannot bind tensor '{}'", name));
}

void PlanSlot::bind_addresses(const Memory& memory) {
  for (std::size_t i = 0; i < memory.inputs.size(); ++i) bind_address(input_names_[i], memory.inputs[i]);
  for (std::size_t i = 0; i < memory.outputs.size(); ++i)
    bind_address(plan_outputs_[i].name, memory.outputs[i]);
}

// A graph recorded earlier holds old addresses and shapes.
void PlanSlot::make_outputs(Memory& memory) {
  memory.graph.reset();
  memory.views.clear();
  memory.outputs.clear();
  bind_addresses(memory);
  infer_shapes(memory);
  for (const auto& output : plan_outputs_) add_output(memory, output);
}

// The library reads the values of inputs on the host here, because shapes of outputs may depend on them.
void PlanSlot::infer_shapes(const Memory& memory) {
  const bool has_values = std::any_of(memory.inputs.begin(), memory.inputs.end(),
                                      [](const Buffers& input) { return input.on_host; });
  if (has_values && context_->inferShapes(0, nullptr) != 0)
    throw Error(ErrorCode::kData,
                fmt::format("the values of the inputs give no output shapes: {}", log_.reason()));
}

void PlanSlot::add_output(Memory& memory, const PlanOutput& output) {
  const auto shape = from_dims(context_->getTensorShape(output.name.c_str()));
  if (std::any_of(shape.begin(), shape.end(), [](auto extent) { return extent < 0; }))
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("the shape of output '{}' depends on the data; such models are not run on TensorRT",
                    output.name));
  TensorView view{output.name, nullptr, output.dtype, shape, {}, {}};
  const auto& buffers = memory.outputs.emplace_back(view.size_bytes(), launch_.io, output.on_host);
  view.data = buffers.host.get();
  memory.views.push_back(view);
  bind_address(output.name, buffers);
}

void PlanSlot::set_inputs(std::span<const TensorView> inputs) {
  for (auto& memory : memories_) {
    bool have_values_changed = false;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      have_values_changed = take(memory.inputs[i], inputs[i]) || have_values_changed;
    if (memory.views.size() < plan_outputs_.size() || have_values_changed) make_outputs(memory);
    if (!sends()) send_inputs(memory, stream_);  // else every inference copies them
  }
  if (!sends()) stream_.wait();
}

// Returns whether values changed that the library reads on the host.
bool PlanSlot::take(const Buffers& buffers, const TensorView& input) {
  const bool changes =
      buffers.on_host && std::memcmp(buffers.host.get(), input.data, input.size_bytes()) != 0;
  std::memcpy(buffers.host.get(), input.data, input.size_bytes());
  return changes;
}

void PlanSlot::send_inputs(const Memory& memory, const OwnedStream& stream) {
  for (const auto& input : memory.inputs)
    if (!input.on_host)
      check(driver().copy_to_device(input.device.get(), input.host.get(), input.bytes, stream.get()),
            "cannot copy an input to the device");
}

void PlanSlot::fetch_outputs(const Memory& memory, const OwnedStream& stream) {
  for (const auto& output : memory.outputs)
    if (!output.on_host)
      check(driver().copy_to_host(output.host.get(), output.device.get(), output.bytes, stream.get()),
            "cannot copy an output to the host");
}

void PlanSlot::run_model() {
  require(context_->enqueueV3(stream_.get()), "the model cannot run on these inputs");
}

// TensorRT needs one plain run with these shapes before a capture: one-time work must not be part of a graph.
void PlanSlot::record_model(Memory& memory) {
  run_model();
  stream_.wait();
  memory.graph.emplace(stream_, [&] { return context_->enqueueV3(stream_.get()); });
}

void PlanSlot::start() {
  start(launch_.graph);
}

void PlanSlot::start_without_graph() {
  start(false);
}

// With `overlap`, memory is used again when the model has read the inputs, and the host has the outputs, of
// the inference before the last.
void PlanSlot::start(bool replay) {
  turn_ = (turn_ + 1) % memories_.size();
  Memory& memory = memories_[turn_];
  if (sends()) {
    if (launch_.overlap) memory.ran.hold(to_device());
    sending_.record(to_device());
    send_inputs(memory, to_device());
  }
  if (launch_.overlap) {
    memory.sent.record(to_device());
    memory.sent.hold(stream_);
    memory.fetched.hold(stream_);
    bind_addresses(memory);
  }
  if (replay && !memory.graph) record_model(memory);
  (started_++ == 0 ? begin_ : later_begin_).record(stream_);
  replay ? memory.graph->launch(stream_) : run_model();
  end_.record(stream_);
  if (launch_.overlap) {
    memory.ran.record(stream_);
    memory.ran.hold(to_host());
  }
  if (launch_.io == Io::kNone) return;
  if (launch_.overlap) fetching_.record(to_host());
  fetch_outputs(memory, to_host());
  memory.fetched.record(to_host());
}

// The streams of copies and of the model follow each other.
void PlanSlot::wait_for_last() const {
  (launch_.io == Io::kNone ? stream_ : to_host()).wait();
}

std::span<const TensorView> PlanSlot::wait() {
  waited_for_ = std::exchange(started_, 0);
  wait_for_last();
  if (launch_.io == Io::kNone) return {};
  return memories_[turn_].views;
}

plugin::PartTimes PlanSlot::part_ns() const {
  plugin::PartTimes times;
  const auto& begin = waited_for_ > 1 ? later_begin_ : begin_;
  const Memory& memory = memories_[turn_];
  if (sends()) times.inputs_ns = sending_.ns_until(launch_.overlap ? memory.sent : begin);
  times.model_ns = begin.ns_until(end_);
  if (launch_.io != Io::kNone)
    times.outputs_ns = (launch_.overlap ? fetching_ : end_).ns_until(memory.fetched);
  return times;
}

std::span<const TensorView> PlanSlot::outputs() {
  const Memory& memory = memories_[turn_];
  if (launch_.io == Io::kNone) fetch_outputs(memory, stream_);
  wait_for_last();
  return memory.views;
}

}  // namespace paceline::tensorrt_plugin
